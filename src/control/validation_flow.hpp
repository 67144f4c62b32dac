#pragma once

#include "control/events.hpp"
#include "control/outbox.hpp"
#include "control/validation_queue.hpp"

#include <optional>
#include <string>

namespace headway::control {

/// The validations of a run beside its training: starts their processes, limits their time, ends
/// them, and says what became of each. What that means for checkpoints is the caller's part.
class ValidationFlow {
 public:
  explicit ValidationFlow(ValidationSpec config) : queue_(std::move(config)) {}

  /// How long a process may take for its exit handlers.
  static constexpr Duration exit_grace = std::chrono::seconds(30);

  /// The outcome of a validation. `checkpoint` and `report` say whose.
  struct Outcome {
    std::string checkpoint;
    std::int64_t report = 0;
    CheckpointStatus status = CheckpointStatus::VALIDATION_FAILED;
    JsonObject metrics = {};
  };

  /// What waits, runs and ends.
  const ValidationQueue& queue() const { return queue_; }

  /// A committed checkpoint is to be validated. Its outcome when it cannot be.
  std::optional<Outcome> add(const std::string& checkpoint, std::int64_t report, const ValidationTask& task,
                             Outbox& out);
  /// Starts what may run now.
  void start(Outbox& out);
  /// Another checkpoint has this name now: the outcome of the old one's validation does not count.
  void forget(const std::string& checkpoint, Outbox& out);
  /// No outcome counts any more: the next driver of the run finds them again.
  void stop(const std::string& reason, Outbox& out);

  void on(const ValidationStarted& event, Outbox& out);
  std::optional<Outcome> on(const ValidationFinished& event, Outbox& out);
  std::optional<Outcome> on(const ValidationFailed& event, Outbox& out);
  /// A process is gone. Nothing is started in its place yet.
  std::optional<Outcome> on(const ValidationExited& event, Outbox& out);
  /// The timer of validation `number` has fired.
  std::optional<Outcome> time_is_over(std::int64_t number, Outbox& out);

 private:
  Outcome settle(const ValidationQueue::Validation& validation, CheckpointStatus status, JsonObject metrics,
                 Outbox& out);

  ValidationQueue queue_;
};

}  // namespace headway::control
