#include "library/run_request.hpp"

#include "core/environment.hpp"
#include "core/location.hpp"
#include "core/score.hpp"
#include "driver/run.hpp"
#include "driver/run_identity.hpp"
#include "driver/runtime.hpp"
#include "library/arrow_libraries.hpp"
#include "library/display.hpp"
#include "library/exception_text.hpp"
#include "library/interrupt.hpp"
#include "library/program.hpp"
#include "library/worker_setup.hpp"
#include "storage/storage.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <poll.h>

namespace headway::library {
namespace {

namespace fs = std::filesystem;

std::string home() {
  const char* variable = std::getenv("HOME");
  return variable == nullptr ? "/" : variable;
}

/// Absolute, with "~" at its beginning as the home directory. What is no path stays as it is, for validate() to refuse.
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
  if (request.after_report) spec.callback_lag_max = lag_max;
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

/// Serves one run's events on the thread that called fit(), until its end.
class RunLoop {
 public:
  RunLoop(std::shared_ptr<driver::Run> run, const RunRequest& request) : run_(std::move(run)), request_(request) {}

  const JsonObject& serve() {
    while (!end_) {
      std::array<pollfd, 3> watch{
          {{run_->event_fd(), POLLIN, 0}, {run_->alarm_fd(), POLLIN, 0}, {aborted_ ? -1 : interrupt_.fd(), POLLIN, 0}}};
      if (poll(watch.data(), watch.size(), -1) < 0) continue;  // A signal that the program handles.
      if (!aborted_ && interrupt_.came()) {
        aborted_ = true;
        run_->abort("Ctrl-C");
      }
      // Hangs are told apart from the rest; of alarms only the warnings matter here.
      for (const driver::FrontEvent& event : run_->take_alarms()) take(event);
      for (const driver::FrontEvent& event : run_->take_events()) take(event);
      display_.flush();
    }
    display_.finish();
    return *end_;
  }

  /// Whether Ctrl-C came, be it too late for the run.
  bool interrupted() const { return interrupt_.came(); }
  const std::string& return_value() const { return return_value_; }

 private:
  void take(const driver::FrontEvent& event) {
    const JsonObject json = parse_json(event.json, "an event").value().as_object();
    if (const Json* checkpoint = event.kind == "line" ? json.if_contains("validation") : nullptr) {
      display_.validation_line(checkpoint->as_string(), event.blob ? *event.blob : "");
    } else if (event.kind == "line") {
      display_.line(static_cast<int>(json.at("rank").to_number<int>()), event.blob ? *event.blob : "");
    } else if (event.kind == "report") {
      display_.report(json);
    } else if (event.kind == "warning" || event.kind == "notice") {
      display_.say(event.kind == "warning", std::string(json.at("text").as_string()));
    } else if (event.kind == "setup") {
      run_->setup_finished(json.at("attempt").to_number<int>(), std::nullopt);
    } else if (event.kind == "teardown") {
      run_->teardown_finished(json.at("attempt").to_number<int>());
    } else if (event.kind == "reported") {
      call_back([&] { tell_report(json); });
      run_->report_heard();
    } else if (event.kind == "failed") {
      call_back([&] { tell_failure(json); });
    } else if (event.kind == "return_value") {
      return_value_ = event.blob ? *event.blob : "null";
    } else if (event.kind == "finished") {
      end_ = json;
    }
  }

  void tell_report(const JsonObject& json) {
    if (!request_.after_report) return;
    std::vector<std::string> metrics;
    for (const Json& each : json.at("metrics").as_array()) metrics.push_back(json_text(each));
    const Json* name = json.at("line").as_object().if_contains("checkpoint_dir_name");
    std::optional<std::string> checkpoint;
    if (name != nullptr && name->is_string()) checkpoint = join_location(run_->path(), name->as_string());
    request_.after_report(metrics, checkpoint);
  }

  void tell_failure(const JsonObject& json) {
    if (!request_.after_exception) return;
    std::map<int, std::string> failures;
    for (const Json& rank : json.at("ranks").as_array())
      failures[rank.at("rank").to_number<int>()] = std::string(rank.at("text").as_string());
    request_.after_exception(failures);
  }

  /// The run fails by what a callback throws; the others are not called any more.
  template <class Call>
  void call_back(Call call) {
    if (callback_failed_) return;
    try {
      call();
    } catch (...) {
      callback_failed_ = true;
      const RankError error = describe_current_exception();
      run_->callback_failed(to_text(error) + "\n" + error.traceback +
                            "Thrown by a callback of TrainerOptions.callbacks\n");
    }
  }

  std::shared_ptr<driver::Run> run_;
  const RunRequest& request_;
  Display display_;
  Interrupt interrupt_;
  bool aborted_ = false;
  bool callback_failed_ = false;
  std::string return_value_ = "null";
  std::optional<JsonObject> end_;
};

Error to_error(const JsonObject& end, const std::string& path) {
  std::string message(end.at("message").as_string());
  Error error{error_kind_of(end.at("kind").as_string()), message};
  if (error.kind == ErrorKind::user_code || error.kind == ErrorKind::worker_died ||
      error.kind == ErrorKind::preempted) {
    while (!message.empty() && message.back() == '\n') message.pop_back();
    error.message = message + "\nThe run's folder: " + path;
  }
  return error;
}

RunEnd to_end(const JsonObject& json, const RunLoop& loop, const std::string& path, const std::string& config_json) {
  RunEnd end;
  end.path = path;
  if (const std::string last(json.at("last_report").as_string()); !last.empty()) end.last_report_json = last;
  end.return_value_json = loop.return_value();
  end.attempts = json.at("attempts").to_number<int>();
  end.config_json = config_json;
  for (const Json& entry : json.at("checkpoints").as_array()) {
    const std::string name(entry.at("name").as_string());
    end.checkpoints.push_back(name.starts_with('/') || is_remote(name) ? name : join_location(path, name));
    end.checkpoint_metrics_json.push_back(json_text(entry.at("metrics")));
  }
  return end;
}

}  // namespace

Result<RunEnd> run(const RunRequest& request) {
  // The program's own faults are told before those of the run.
  auto runtime = driver_runtime();
  if (!runtime) return runtime.error();
  Result<RunSpec> spec = to_spec(request);
  if (!spec) return spec.error();
  Result<wire::Blob> validation = to_blob(request.validation);
  if (!validation) return validation.error();
  JsonObject task{{"loop", request.loop}, {"config", spec->config}};
  JsonObject setup = worker_setup();
  setup["validates"] = request.validation.has_value();
  auto started = (*runtime)->start_run(std::move(*spec), std::move(setup),
                                       std::make_shared<const std::string>(json_text(task)), nullptr, *validation);
  if (!started) return started.error();
  const std::string path = (*started)->path();
  RunLoop loop(*started, request);
  const JsonObject& end = loop.serve();
  if (loop.interrupted()) {
    std::fprintf(
        stderr, "headway: stopped by Ctrl-C; what was reported so far is in %s; the same name and storage path go on\n",
        path.c_str());
    leave_program();
    Interrupt::end_program();
  }
  if (end.at("state").as_string() != "finished") return to_error(end, path);
  return to_end(end, loop, path, request.config_json);
}

std::optional<std::size_t> best_place(const std::vector<std::string>& metrics_json, const std::string& metric,
                                      const std::string& mode) {
  std::vector<JsonObject> metrics;
  for (const std::string& text : metrics_json) metrics.push_back(parse_json(text, "metrics").value().as_object());
  return best_of(metrics, metric, mode);
}

}  // namespace headway::library
