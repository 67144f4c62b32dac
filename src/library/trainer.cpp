#include <headway/storage.hpp>
#include <headway/trainer.hpp>

#include "library/committed_checkpoint.hpp"
#include "library/loop_names.hpp"
#include "library/program.hpp"
#include "library/run_request.hpp"
#include "library/train_loops.hpp"

namespace headway {
namespace {

using library::open_or_name;

TrainResult to_result(const library::RunEnd& end) {
  TrainResult result;
  result.path = end.path;
  result.metrics = Json::parse(end.last_report_json).value();
  if (result.metrics.is_object()) result.metrics["done"] = end.finished;
  result.return_value = Json::parse(end.return_value_json).value();
  result.attempts = end.attempts;
  result.config = Json::parse(end.config_json).value();
  result.error = end.error;
  result.damaged = end.damage;
  for (std::size_t i = 0; i < end.checkpoints.size(); ++i) {
    result.best_checkpoints.push_back(
        {open_or_name(end.checkpoints[i]), Json::parse(end.checkpoint_metrics_json[i]).value()});
  }
  if (!result.best_checkpoints.empty()) result.checkpoint = result.best_checkpoints.back().checkpoint;
  return result;
}

using Callbacks = std::vector<std::shared_ptr<Callback>>;

Result<void> check(const Callbacks& callbacks) {
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    if (callbacks[i] != nullptr) continue;
    return Error{ErrorKind::invalid_argument,
                 "TrainerOptions.callbacks[" + std::to_string(i) +
                     "] is null; allowed: an object of a class that derives from headway::Callback"};
  }
  return {};
}

void hear(const Callbacks& callbacks, library::RunCallbacks& called) {
  called.after_report = [callbacks](const std::vector<std::string>& metrics_json,
                                    const std::optional<std::string>& directory) {
    std::vector<Json> metrics;
    for (const std::string& text : metrics_json) metrics.push_back(Json::parse(text).value());
    std::optional<Checkpoint> checkpoint;
    if (directory) checkpoint = open_or_name(*directory);
    for (const auto& callback : callbacks) callback->after_report(metrics, checkpoint);
  };
  called.after_exception = [callbacks](const std::map<int, std::string>& failures) {
    for (const auto& callback : callbacks) callback->after_exception(failures);
  };
}

library::RunRequest::Validation to_request(const ValidationConfig& config, const std::string& function) {
  return {function,           config.task.arguments.dump(), config.task.timeout_s, config.resources,
          config.max_retries, config.max_concurrent,        config.order};
}

}  // namespace

Result<TrainResult> Trainer::fit() {
  // What is wrong with the program comes before what is wrong with the run.
  if (auto runtime = library::driver_runtime(); !runtime) return runtime.error();
  if (auto ok = check(options_.callbacks); !ok) return ok.error();
  const Result<std::string> name = library::name_of(loop_);
  if (!name) return name.error();
  library::RunRequest request;
  request.loop = *name;
  request.config_json = options_.config.dump();
  request.metadata_json = options_.metadata.dump();
  request.scaling = options_.scaling;
  request.run = options_.run;
  if (options_.resume_from_checkpoint) request.resume_from_checkpoint = options_.resume_from_checkpoint->path();
  if (!options_.callbacks.empty()) hear(options_.callbacks, request.callbacks);
  if (options_.validation) {
    const Result<std::string> function = library::name_of(options_.validation->function);
    if (!function) return function.error();
    request.validation = to_request(*options_.validation, *function);
  }
  const Result<library::RunEnd> end = library::run(request);
  if (!end) return end.error();
  return to_result(*end);
}

Result<TrainResult> TrainResult::from_path(const std::string& path) {
  const Result<Storage> folder = Storage::at(path);
  if (!folder) return folder.error();
  const Result<library::RunEnd> end = library::found_end(folder->location());
  if (!end) return end.error();
  return to_result(*end);
}

Result<Checkpoint> TrainResult::get_best_checkpoint(const std::string& metric, const std::string& mode) const {
  if (mode != "max" && mode != "min") {
    return Error{ErrorKind::invalid_argument, "mode is \"" + mode + "\"; allowed: \"max\" or \"min\""};
  }
  std::vector<std::string> metrics_json;
  for (const BestCheckpoint& each : best_checkpoints) metrics_json.push_back(each.metrics.dump());
  const std::optional<std::size_t> best = library::best_place(metrics_json, metric, mode);
  if (!best) {
    return Error{ErrorKind::not_found, "metric is \"" + metric + "\", which no kept checkpoint has as a number"};
  }
  return best_checkpoints[*best].checkpoint;
}

}  // namespace headway
