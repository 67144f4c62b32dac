#include <headway/storage.hpp>
#include <headway/trainer.hpp>

#include "core/fault_point.hpp"
#include "library/committed_checkpoint.hpp"
#include "library/data_client.hpp"
#include "library/event_inbox.hpp"
#include "library/loop_names.hpp"
#include "library/program.hpp"
#include "library/run_request.hpp"
#include "library/text_check.hpp"
#include "library/train_loops.hpp"
#include "wire/thread_pool.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

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
  result.dropped_checkpoints = end.dropped_checkpoints;
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

/// As they travel to workers. Errors: `invalid_argument`, `unavailable`.
Result<std::string> to_request(const TrainerOptions& options) {
  std::string there;
  Json datasets = Json::object();
  for (const auto& [name, dataset] : options.datasets) {
    if (auto ok = library::check_text("a name in TrainerOptions.datasets", name); !ok) return ok.error();
    datasets[name] = dataset.json();
    datasets[name]["split"] = !options.datasets_to_split;
    there += (there.empty() ? "\"" : ", \"") + name + "\"";
  }
  for (const std::string& name : options.datasets_to_split.value_or(std::vector<std::string>())) {
    if (!datasets.contains(name)) {
      return Error{ErrorKind::invalid_argument,
                   "TrainerOptions.datasets_to_split has \"" + name +
                       "\"; allowed: names of TrainerOptions.datasets: " + (there.empty() ? "none" : there)};
    }
    datasets[name]["split"] = true;
  }
  if (options.datasets.empty()) return std::string();
  if (auto found = library::find_data_program(); !found) return found.error();
  return datasets.dump();
}

}  // namespace

namespace {

Result<TrainResult> to_result(const Result<library::RunEnd>& end) {
  if (!end) return end.error();
  return to_result(*end);
}

/// Starts the run of a trainer.
Result<std::unique_ptr<library::StartedRun>> start(const TrainLoop& loop, const TrainerOptions& options) {
  // What is wrong with the program comes before what is wrong with the run.
  if (auto runtime = library::driver_runtime(); !runtime) return runtime.error();
  if (auto ok = check(options.callbacks); !ok) return ok.error();
  const Result<std::string> name = library::name_of(loop);
  if (!name) return name.error();
  library::RunRequest request;
  request.loop = *name;
  request.config_json = options.config.dump();
  request.metadata_json = options.metadata.dump();
  request.scaling = options.scaling;
  request.run = options.run;
  if (options.resume_from_checkpoint) request.resume_from_checkpoint = options.resume_from_checkpoint->path();
  if (!options.callbacks.empty()) hear(options.callbacks, request.callbacks);
  if (options.validation) {
    const Result<std::string> function = library::name_of(options.validation->function);
    if (!function) return function.error();
    request.validation = to_request(*options.validation, *function);
  }
  const Result<std::string> datasets = to_request(options);
  if (!datasets) return datasets.error();
  request.datasets_json = *datasets;
  return library::start(request);
}

}  // namespace

struct RunHandle::State {
  void serve() {
    Result<TrainResult> served = to_result(run->serve(&events));
    const std::lock_guard lock(mutex);
    result = std::move(served);
    ended.notify_all();
  }
  /// In a forked child there is no thread that serves the run.
  Result<void> check_process() const {
    if (owner == getpid()) return {};
    return Error{ErrorKind::invalid_argument, "the handle of " + run->path() + " belongs to process " +
                                                  std::to_string(owner) + ", from which process " +
                                                  std::to_string(getpid()) +
                                                  " was forked; allowed: the process that started the run"};
  }

  std::unique_ptr<library::StartedRun> run;
  library::EventInbox events;
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Result<TrainResult>> result;
  std::thread thread;
  pid_t owner = getpid();
};

RunHandle::RunHandle(std::unique_ptr<State> state) : state_(std::move(state)) {}

RunHandle::RunHandle(RunHandle&& other) noexcept = default;

RunHandle& RunHandle::operator=(RunHandle&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

RunHandle::~RunHandle() {
  if (!state_) return;
  if (!state_->check_process()) {
    (void)state_.release();  // NOLINT(bugprone-unused-return-value): the parent's; its thread is not here.
    return;
  }
  if (!done()) state_->run->abort("its handle was destroyed");
  state_->thread.join();
}

const std::string& RunHandle::path() const { return state_->run->path(); }

bool RunHandle::done() const {
  state_->check_process().value();
  const std::lock_guard lock(state_->mutex);
  return state_->result.has_value();
}

Result<TrainResult> RunHandle::wait() {
  if (auto ok = state_->check_process(); !ok) return ok.error();
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [this] { return state_->result.has_value(); });
  return *state_->result;
}

std::optional<Result<TrainResult>> RunHandle::wait_for(std::chrono::duration<double> timeout) {
  if (auto ok = state_->check_process(); !ok) return ok.error();
  std::unique_lock lock(state_->mutex);
  state_->ended.wait_for(lock, timeout, [this] { return state_->result.has_value(); });
  return state_->result;
}

std::optional<events::Event> RunHandle::next_event(std::optional<std::chrono::duration<double>> timeout) {
  state_->check_process().value();
  return state_->events.next(timeout);
}

void RunHandle::stop(const std::string& reason) {
  if (!done()) state_->run->stop(reason);
}

Result<RunHandle> Trainer::start() {
  auto run = headway::start(loop_, options_);
  if (!run) return run.error();
  auto state = std::make_unique<RunHandle::State>();
  state->run = std::move(*run);
  try {
    if (is_armed("handle.thread"))
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    // It takes signals as the caller does: callbacks run on it, and what they start inherits that.
    state->thread = std::thread(&RunHandle::State::serve, state.get());
  } catch (const std::system_error& failure) {
    state->run->abort("its handle has no thread");
    (void)state->run->serve(nullptr);
    return wire::no_thread(failure);
  }
  return RunHandle(std::move(state));
}

Result<TrainResult> Trainer::fit() {
  const auto run = headway::start(loop_, options_);
  if (!run) return run.error();
  return to_result((*run)->serve(nullptr));
}

Result<TrainResult> TrainResult::from_path(const std::string& path) {
  const Result<Storage> folder = Storage::at(path);
  if (!folder) return folder.error();
  const Result<library::RunEnd> end = library::found_end(folder->location());
  if (!end) return end.error();
  return to_result(*end);
}

Result<std::map<int, Json>> TrainResult::step_times() const {
  const Result<Storage> folder = Storage::at(path);
  if (!folder) return folder.error();
  std::map<int, Json> times;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    const std::string name = "step_times_" + std::to_string(attempt) + ".json";
    const Result<std::string> text = folder->read(name);
    if (!text && text.error().kind == ErrorKind::not_found) continue;
    if (!text) return text.error();
    const Result<Json> parsed = Json::parse(*text);
    if (!parsed || !parsed->is_object() || !parsed->contains("ranks"))
      return Error{ErrorKind::corrupted, path + "/" + name + " is damaged"};
    times[attempt] = parsed->at("ranks");
  }
  return times;
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
