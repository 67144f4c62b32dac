#pragma once

#include <headway/callback.hpp>
#include <headway/checkpoint.hpp>
#include <headway/config.hpp>
#include <headway/data/dataset.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>
#include <headway/result.hpp>
#include <headway/run_event.hpp>
#include <headway/validation.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headway {

/// A training loop: a function that runs in every worker. It takes the configuration or nothing,
/// and may return what rank 0's `TrainResult::return_value` then is.
struct TrainLoop {
  TrainLoop(void (*loop)(const Json&)) : with_config(loop) {}
  TrainLoop(void (*loop)()) : plain(loop) {}
  TrainLoop(Json (*loop)(const Json&)) : with_config_and_value(loop) {}
  TrainLoop(Json (*loop)()) : with_value(loop) {}
  bool operator==(const TrainLoop&) const = default;

  void (*with_config)(const Json&) = nullptr;
  void (*plain)() = nullptr;
  Json (*with_config_and_value)(const Json&) = nullptr;
  Json (*with_value)() = nullptr;
};

/// What HEADWAY_TRAIN_LOOP makes: the loop under its name, in which a worker finds it again.
class HEADWAY_API RegisteredLoop {
 public:
  RegisteredLoop(const char* name, TrainLoop loop);
};

/// Registers a training loop under its name, at namespace scope. Names are unique in a program.
///
///     void train(const headway::Json& config) { ... }
///     HEADWAY_TRAIN_LOOP(train);
#define HEADWAY_TRAIN_LOOP(loop) HEADWAY_TRAIN_LOOP_AT(loop, __COUNTER__)
#define HEADWAY_TRAIN_LOOP_AT(loop, place) HEADWAY_TRAIN_LOOP_NAMED(loop, place)
#define HEADWAY_TRAIN_LOOP_NAMED(loop, place) \
  [[maybe_unused]] static const ::headway::RegisteredLoop headway_registered_loop_##place(#loop, loop)

/// A committed checkpoint that the run has kept, with its report's metrics.
struct BestCheckpoint {
  Checkpoint checkpoint;
  Json metrics;
};

/// The outcome of a run.
struct TrainResult {
  std::string path;  ///< The run's folder.
  /// The last report's, with the automatic ones (training_iteration, time_total_s, ...); null
  /// without any.
  Json metrics;
  std::optional<Checkpoint> checkpoint;          ///< The newest committed one.
  std::vector<BestCheckpoint> best_checkpoints;  ///< All that are kept, oldest first.
  /// What rank 0's loop returned; null when it returns nothing.
  Json return_value;
  /// Lives of the worker group: 1 without a restart.
  int attempts = 0;
  /// The loop's configuration; from `from_path` as params.json has it.
  Json config;
  /// Why the run failed: from `from_path`. What `fit` returns has not failed.
  std::optional<Error> error;
  /// Checkpoints that could not be stored and were dropped (CheckpointConfig::on_upload_failure is
  /// "warn").
  std::int64_t dropped_checkpoints = 0;
  /// What is wrong with checkpoints that `from_path` leaves out, in words.
  std::vector<std::string> damaged;

  /// The result of the run in a folder (a path or a URL), from this or another process, while it
  /// runs or later. A checkpoint whose manifest is damaged is left out and told in `damaged`.
  /// Errors: `not_found` when there is no run; `corrupted` when one of the run's files is damaged,
  /// or a newer version of Headway wrote it; `unavailable`, `refused`.
  ///
  ///     const auto result = headway::TrainResult::from_path("/data/runs/digits").value();
  ///     if (result.error) std::cout << result.error->message << '\n';
  HEADWAY_API static Result<TrainResult> from_path(const std::string& path);

  /// Of the kept checkpoints the one with the highest (`mode` "max") or lowest ("min") metric, the
  /// newer one of equals. `metric` is a key, '/' between nested ones. Errors: `invalid_argument`
  /// for a bad mode, `not_found` when none has it as a number.
  HEADWAY_API Result<Checkpoint> get_best_checkpoint(const std::string& metric, const std::string& mode) const;

  /// How long each rank took, by the number of the attempt: an array with an object for each rank,
  /// as step_times_<attempt>.json in the run's folder has it ("A slow rank" in docs/debugging.md).
  /// An attempt without two steps or reports is left out. Read anew by each call. Errors:
  /// `corrupted` for a damaged file, `unavailable`, `refused`.
  HEADWAY_API Result<std::map<int, Json>> step_times() const;
};

/// A run that was started, from `Trainer::start`. Its functions may be called from any thread. A
/// thread of this process serves the run: it prints what `fit` prints, and callbacks are called on
/// it. A child that this process has forked has no such thread: there all of this but `path` is
/// `invalid_argument`, thrown as `BadResult` where it is not returned.
///
///     auto run = headway::Trainer(train, options).start().value();
///     while (!run.wait_for(std::chrono::seconds(1))) draw(run.path());
class HEADWAY_API RunHandle {
 public:
  RunHandle(RunHandle&& other) noexcept;
  RunHandle& operator=(RunHandle&& other) noexcept;
  /// A run that has not ended is aborted, and waited for.
  ~RunHandle();

  /// The run's folder.
  const std::string& path() const;
  /// Whether the run has ended, however it did.
  bool done() const;
  /// Waits until the run has ended. Errors: those of `Trainer::fit`.
  Result<TrainResult> wait();
  /// The same for at most `timeout`; none when the run has not ended by then. It continues.
  std::optional<Result<TrainResult>> wait_for(std::chrono::duration<double> timeout);
  /// Waits for what happens in the run: the first call for what happens after it, each later one
  /// for what follows the event before. Each event is returned once. None after `timeout` (without
  /// one it waits as long as it takes), and none once `events::Finished`, the last event, was
  /// returned. Who is slow misses the oldest events, once 10 000 wait; of reports that come faster
  /// than they are shown some are left out. Callbacks do not wait for it.
  ///
  ///     while (const auto event = run.next_event()) {
  ///       if (const auto* report = std::get_if<headway::events::ReportRecorded>(&*event)) draw(report->line);
  ///     }
  std::optional<events::Event> next_event(std::optional<std::chrono::duration<double>> timeout = std::nullopt);
  /// Stops the run, which ends as finished: `wait` returns the result of what it has reported so
  /// far. Returns at once. A report that is under way is recorded first; ranks get a SIGTERM, and
  /// half a second later a SIGKILL. Does nothing once the run has ended.
  void stop(const std::string& reason = "its handle was asked to stop it");

 private:
  friend class Trainer;
  struct State;
  explicit RunHandle(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What a run is made of, beside its loop.
struct TrainerOptions {
  Json config = Json::object();  ///< Given to the loop in every worker.
  ScalingConfig scaling = {};
  RunConfig run = {};
  std::optional<Checkpoint> resume_from_checkpoint =
      std::nullopt;  ///< What `get_checkpoint` gives before the run has a checkpoint.
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< Called in this order.
  std::optional<ValidationConfig> validation =
      std::nullopt;  ///< How checkpoints are validated whose `report` asks for it.
  /// An object: in every worker's context, and in every checkpoint's manifest.
  Json metadata = Json::object();
  /// Data sets by name; each rank gets its share by `get_dataset_shard(name)`.
  std::map<std::string, data::Dataset> datasets = {};
  /// The names of those that ranks share; of the others every rank gets all rows. None: all are
  /// shared.
  std::optional<std::vector<std::string>> datasets_to_split = std::nullopt;
};

/// Runs a training loop in every worker of a group, restarts the group when it fails, and keeps
/// what it reports.
///
///     auto result = headway::Trainer(train, {.config = {{"lr", 1e-3}}, .scaling = {.num_workers = 4}}).fit();
///     std::cout << result.value().metrics.at("loss").as_double() << '\n';
class HEADWAY_API Trainer {
 public:
  explicit Trainer(TrainLoop loop, TrainerOptions options = {}) : loop_(loop), options_(std::move(options)) {}

  /// Runs the training and its validations to their end; blocks. With the name of a run that the
  /// storage path contains already, it resumes that run from its newest checkpoint, whether the run
  /// had failed, its driver was killed, or it was complete; a notice says so. Reports, warnings and
  /// each rank's output are shown meanwhile. When it has returned, every worker has ended, and all
  /// of its output and files are where they belong.
  ///
  /// Errors: `invalid_argument` (a bad field, a loop or a validation function that is not
  /// registered, two of one name, no Main, resources that no machine has), `already_exists` (the
  /// run has a driver already, which is named), `not_found` (no directory to resume from),
  /// `unavailable` and `refused` (storage or processes), all of them before a worker starts;
  /// `user_code` and `worker_died` (or `preempted`) when the group failed (had to leave nodes) more
  /// often than `FailureConfig` allows: the message begins with the failed rank's own exception, or
  /// how its process ended. `preempted` also when this process received SIGTERM: the program should
  /// return 143 from main, as a shell shows it, and the next start resumes the run.
  Result<TrainResult> fit();

  /// Starts the run and returns at once; `fit` is `start` and `wait` on the calling thread. Errors:
  /// those of `fit` that come before anything is started, and `unavailable` when the system gives
  /// no thread; the rest comes from `RunHandle::wait`.
  Result<RunHandle> start();

 private:
  TrainLoop loop_;
  TrainerOptions options_;
};

}  // namespace headway
