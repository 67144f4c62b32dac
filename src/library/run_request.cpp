#include "library/run_request.hpp"

#include "core/environment.hpp"
#include "core/location.hpp"
#include "core/score.hpp"
#include "driver/run_identity.hpp"
#include "driver/runtime.hpp"
#include "library/arrow_libraries.hpp"
#include "library/interrupt.hpp"
#include "library/program.hpp"
#include "library/run_loop.hpp"
#include "library/run_start.hpp"
#include "library/worker_setup.hpp"
#include "storage/storage.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace headway::library {
namespace {

namespace fs = std::filesystem;

std::string home() {
  const char* variable = std::getenv("HOME");
  return variable == nullptr ? "/" : variable;
}

ValidationSpec to_spec(const RunRequest::Validation& asked) {
  ValidationSpec spec;
  spec.has_function = true;
  spec.timeout_s = asked.timeout_s;
  spec.max_concurrent = asked.max_concurrent;
  spec.order = asked.order;
  spec.max_retries = asked.max_retries;
  spec.resources = asked.resources;
  return spec;
}

/// What a worker needs to call the function. Errors: `invalid_argument`.
Result<wire::Blob> to_blob(const std::optional<RunRequest::Validation>& asked) {
  if (!asked) return wire::Blob();
  Result<Json> arguments = parse_json(asked->arguments_json, "ValidationTaskConfig.arguments");
  if (!arguments) return arguments.error();
  if (!arguments->is_object()) {
    return Error{ErrorKind::invalid_argument, "ValidationTaskConfig.arguments is " + json_text(*arguments) +
                                                  "; allowed: an object, such as {{\"split\", \"test\"}}"};
  }
  const JsonObject task{{"function", asked->function}, {"arguments", *arguments}};
  return std::make_shared<const std::string>(json_text(task));
}

Result<RunSpec> to_spec(const RunRequest& request) {
  Result<Json> config = parse_json(request.config_json, "TrainerOptions.config");
  if (!config) return config.error();
  if (!config->is_object()) {
    return Error{ErrorKind::invalid_argument,
                 "TrainerOptions.config is " + json_text(*config) + "; allowed: an object, such as {{\"lr\", 0.001}}"};
  }
  Result<Json> metadata = parse_json(request.metadata_json, "TrainerOptions.metadata");
  if (!metadata) return metadata.error();
  if (!metadata->is_object()) {
    return Error{ErrorKind::invalid_argument, "TrainerOptions.metadata is " + json_text(*metadata) +
                                                  "; allowed: an object, such as {{\"classes\", 10}}"};
  }
  RunSpec spec;
  spec.metadata = metadata->as_object();
  spec.trial_id = driver::new_trial_id();
  spec.run.name = request.run.name.empty() ? driver::default_run_name("Trainer", spec.trial_id) : request.run.name;
  spec.run.storage_path = storage_path_of(request.run.storage_path);
  spec.scaling = request.scaling;
  spec.failure = request.run.failure;
  spec.checkpoint = request.run.checkpoint;
  spec.sync = request.run.sync;
  spec.trainer = "Trainer";
  spec.config = config->as_object();
  const Result<bool> enters = works_in_trial_dir();
  if (!enters) return enters.error();
  spec.enter_working_directory = *enters;
  constexpr int lag_max = 16;
  if (request.callbacks.after_report) spec.callback_lag_max = lag_max;
  spec.resume_from_checkpoint = request.resume_from_checkpoint;
  if (request.validation) spec.validation = to_spec(*request.validation);
  // Local mode (0) is the Python front end's: there the loop may be under a debugger.
  if (spec.scaling.num_workers < 1 || spec.scaling.num_workers > 1'000'000) {
    return Error{ErrorKind::invalid_argument, "ScalingConfig.num_workers is " +
                                                  std::to_string(spec.scaling.num_workers) +
                                                  "; allowed: an integer from 1 to 1000000"};
  }
  // In Python a range is one argument, and validate() names that.
  const std::optional<int> least = spec.scaling.min_workers;
  if (least && (*least < 1 || *least > spec.scaling.num_workers)) {
    return Error{ErrorKind::invalid_argument, "ScalingConfig.min_workers is " + std::to_string(*least) +
                                                  "; allowed: an integer from 1 to num_workers, which is " +
                                                  std::to_string(spec.scaling.num_workers)};
  }
  if (auto ok = validate(spec); !ok) return ok.error();
  const std::string from = spec.resume_from_checkpoint.value_or("");
  std::error_code failure;
  if (is_remote(from)) {
    if (const auto files = storage::list_files(from); !files) return files.error();
  } else if (!from.empty() && !fs::is_directory(from, failure)) {
    return Error{ErrorKind::not_found, "resume_from_checkpoint is \"" + from + "\", which is no directory"};
  }
  return spec;
}

Error to_error(const control::RunFailure& failure, const std::string& path) {
  Error error{failure.kind, failure.message};
  if (error.kind == ErrorKind::user_code || error.kind == ErrorKind::worker_died ||
      error.kind == ErrorKind::preempted) {
    while (!error.message.empty() && error.message.back() == '\n') error.message.pop_back();
    error.message += "\nThe run's folder: " + path;
  }
  return error;
}

RunEnd to_end(const driver::Finished& finished, const RunLoop& loop, const std::string& path,
              const std::string& config_json) {
  RunEnd end;
  end.path = path;
  if (!finished.last_report_json.empty()) end.last_report_json = finished.last_report_json;
  end.return_value_json = loop.return_value_json();
  end.attempts = finished.outcome.attempts;
  end.dropped_checkpoints = finished.outcome.dropped_checkpoints;
  end.config_json = config_json;
  for (const control::KeptCheckpoint& kept : finished.outcome.checkpoints) {
    const bool whole = kept.name.starts_with('/') || is_remote(kept.name);
    end.checkpoints.push_back(whole ? kept.name : join_location(path, kept.name));
    end.checkpoint_metrics_json.push_back(json_text(kept.metrics));
  }
  return end;
}

class ServedRun : public StartedRun {
 public:
  ServedRun(std::shared_ptr<driver::Run> run, const RunRequest& request)
      : run_(std::move(run)),
        loop_(run_, request.callbacks, request.run.checkpoint),
        config_json_(request.config_json) {}

  const std::string& path() const override { return run_->path(); }

  Result<RunEnd> serve(RunListener* listener) override {
    const driver::Finished& end = loop_.serve(listener);
    if (loop_.interrupted()) {
      std::fprintf(stderr,
                   "headway: stopped by Ctrl-C; what was reported so far is in %s; the same name and storage path "
                   "resume the run\n",
                   path().c_str());
      leave_program();
      Interrupt::end_program();
    }
    if (end.outcome.failure) return to_error(*end.outcome.failure, path());
    return to_end(end, loop_, path(), config_json_);
  }

  void stop(const std::string& reason) override { run_->stop(reason); }
  void abort(const std::string& reason) override { run_->abort(reason); }

 private:
  std::shared_ptr<driver::Run> run_;
  RunLoop loop_;
  std::string config_json_;
};

}  // namespace

std::string storage_path_of(std::string path) {
  for (const char* variable : {"HEADWAY_STORAGE", "RAY_STORAGE"}) {
    const char* value = std::getenv(variable);
    if (path.empty() && value != nullptr) path = value;
  }
  if (path.empty()) path = "~/headway_results";
  if (!scheme_of(path).empty()) {
    prepare_location(path);
    const Result<std::string> local = is_remote(path) ? Result<std::string>(path) : local_path(path);
    return local ? *local : path;
  }
  if (path == "~" || path.starts_with("~/")) path = home() + path.substr(1);
  std::error_code failure;
  const fs::path absolute = fs::absolute(path, failure).lexically_normal();
  std::string text = failure ? path : absolute.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Result<driver::RunStart> run_start_of(const RunRequest& request) {
  Result<RunSpec> spec = to_spec(request);
  if (!spec) return spec.error();
  Result<wire::Blob> validation = to_blob(request.validation);
  if (!validation) return validation.error();
  JsonObject task{{"loop", request.loop}, {"config", spec->config}};
  if (!request.datasets_json.empty()) {
    Result<Json> datasets = parse_json(request.datasets_json, "TrainerOptions.datasets");
    if (!datasets) return datasets.error();
    task["datasets"] = std::move(*datasets);
  }
  JsonObject setup = worker_setup();
  setup["validates"] = request.validation.has_value();
  driver::RunStart start{.spec = std::move(*spec), .worker_setup = std::move(setup)};
  start.task = std::make_shared<const std::string>(json_text(task));
  start.validation = std::move(*validation);
  return start;
}

Result<std::unique_ptr<StartedRun>> start(const RunRequest& request) {
  // The program's faults are reported before those of the run.
  auto runtime = driver_runtime();
  if (!runtime) return runtime.error();
  Result<driver::RunStart> start = run_start_of(request);
  if (!start) return start.error();
  auto started = (*runtime)->start_run(std::move(*start));
  if (!started) return started.error();
  return std::unique_ptr<StartedRun>(std::make_unique<ServedRun>(*started, request));
}

std::optional<std::size_t> best_place(const std::vector<std::string>& metrics_json, const std::string& metric,
                                      const std::string& mode) {
  std::vector<JsonObject> metrics;
  for (const std::string& text : metrics_json) metrics.push_back(parse_json(text, "metrics").value().as_object());
  return best_of(metrics, metric, mode);
}

}  // namespace headway::library
