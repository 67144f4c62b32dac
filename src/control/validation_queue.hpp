#pragma once

#include "control/commands.hpp"
#include "core/config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// The validations of a run: which wait, which run, and which may run next. At most
/// `max_concurrent` have a process at a time, a process that is about to end included. A checkpoint
/// has one validation at most.
class ValidationQueue {
 public:
  explicit ValidationQueue(ValidationSpec config) : config_(std::move(config)) {}

  /// More wait than the disk can be asked to keep: further ones are refused.
  static constexpr std::size_t waiting_max = 1000;
  /// From so many that wait on, one warning says that validations fall behind.
  static constexpr std::size_t behind = 10;

  /// Why this task cannot be run; none when it can.
  std::optional<std::string> refusal(const ValidationTask& task) const;
  /// Takes in what has no refusal. `report` is the report's index in the run.
  void add(std::string checkpoint, std::int64_t report, ValidationTask task);
  /// Once a run: a warning that validations fall behind.
  std::optional<std::string> behind_warning();
  /// Something else is called so now: what becomes of its validation does not count any more.
  std::vector<EndValidation> forget(const std::string& checkpoint);

  /// What may run now, in order.
  std::vector<StartValidation> start();

  struct Validation {
    std::int64_t number = 0;  ///< 0 while it waits.
    std::string checkpoint;
    std::int64_t report = 0;
    ValidationTask task;
    int deaths = 0;
    /// What became of it is known, or does not count; its process is still there.
    bool ending = false;
    std::optional<Time> since = {};  ///< When its function began.
  };
  /// One that runs; nullptr when the number is none's, or its outcome is known.
  Validation* running(std::int64_t number);
  /// One that has a process, whether or not its outcome is known; nullptr when the number is
  /// none's.
  const Validation* with_process(std::int64_t number) const;
  /// Seconds that its function may take.
  std::optional<double> timeout_s(const Validation& validation) const;

  /// The outcome of `number` is known: from now on only its process is waited for. nullptr when
  /// nothing waits for one.
  Validation* settle(std::int64_t number);
  /// The process is gone. Its death was the first, second ... of the same validation when the
  /// outcome was not known: then it may be started again, and is, or has ended.
  struct Exit {
    /// With its deaths so far; nothing when its outcome was known.
    std::optional<Validation> died;
    bool again = false;
  };
  Exit exit(std::int64_t number);

  /// Nothing is begun any more; returns how those that run are ended, the first time.
  std::vector<EndValidation> stop(const std::string& reason);

  /// Nothing waits and no process is left.
  bool idle() const { return entries_.empty(); }
  /// Whether the outcome of none is open.
  bool settled() const;
  bool any_process() const;
  /// "2 of checkpoint_000003 and checkpoint_000004", for messages: those whose outcome is open.
  std::string words() const;
  const ValidationSpec& config() const { return config_; }
  /// All that wait or have a process, in order of their reports.
  const std::vector<Validation>& entries() const { return entries_; }

 private:
  ValidationSpec config_;
  std::vector<Validation> entries_;  ///< In order of their reports.
  std::int64_t numbers_ = 0;
  bool told_behind_ = false;
  bool stopped_ = false;
};

}  // namespace headway::control
