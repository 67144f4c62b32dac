#pragma once

#include "control/collective_barrier.hpp"
#include "control/commands.hpp"
#include "control/events.hpp"
#include "control/run_outcome.hpp"
#include "control/worker_group.hpp"
#include "core/time.hpp"

#include <optional>
#include <vector>

namespace headway::control {

/// One attempt: its group of ranks, their barriers and broadcasts, and the way to its end. It is
/// `gone` when no process of it is left; before the first `begin` it has no ranks.
class Attempt {
 public:
  /// This many attempts were begun before, by earlier drivers of the run.
  void count_from(int attempts) { number_ = before_ = attempts; }
  /// The next attempt begins, with a rank in each slot.
  void begin(const std::vector<Slot>& slots, Time now);

  /// Every rank begins with the training function.
  void begin_training(Time now);

  /// Counted over all drivers, from 1.
  int number() const { return number_; }
  /// How many this driver has begun.
  int of_this_driver() const { return number_ - before_; }
  /// Whether one of this driver's attempts has begun to train.
  bool any_trained() const { return any_trained_; }
  Time begun_at() const { return begun_at_; }
  WorkerGroup& group() { return group_; }
  const WorkerGroup& group() const { return group_; }
  /// Whether an event that names this attempt and rank is about this one.
  bool is(int attempt, int rank) const { return attempt == number_ && group_.valid(rank); }

  /// Every process has ended.
  void end() { gone_ = true; }
  bool gone() const { return gone_; }

  // Hooks of the front end:

  void hooks_called(Time now) { hook_since_ = now; }
  void hooks_returned() { hook_since_.reset(); }
  const std::optional<Time>& hook_since() const { return hook_since_; }

  // Its end:

  /// Its processes are asked to end, for the first time or again.
  void told_to_end(Time now) {
    if (!ending_since_) ending_since_ = now;
  }
  const std::optional<Time>& ending_since() const { return ending_since_; }
  /// Whether every rank has raised, returned or ended.
  bool nobody_trains() const;
  /// The ranks that have returned, ascending.
  std::vector<int> returned() const;

  /// A failure that looks like another rank's echo waits here for its cause.
  void keep_echo(RunFailure failure) { echo_ = std::move(failure); }
  const std::optional<RunFailure>& echo() const { return echo_; }
  std::optional<RunFailure> take_echo() { return std::exchange(echo_, std::nullopt); }

  // Barriers and broadcasts:

  const CollectiveBarrier& collectives() const { return collectives_; }
  /// When the first rank came to the open one.
  Time collectives_since() const { return collectives_since_; }
  /// A rank has come to one. A failure when its call does not fit to the others'.
  std::optional<RunFailure> arrive(const RankArrived& event, Time now);
  /// Every rank has come: they go on. `preemption` is what those hear who have asked for it.
  ReleaseCollective release_collective(std::optional<PreemptionInfo> preemption, Time now);
  /// A failure when ranks wait for one that has returned.
  std::optional<RunFailure> unmatched_collective(Time now) const;

 private:
  int number_ = 0;
  int before_ = 0;  ///< Those of earlier drivers.
  bool any_trained_ = false;
  Time begun_at_{};
  WorkerGroup group_;
  bool gone_ = true;
  std::optional<Time> hook_since_;
  std::optional<Time> ending_since_;
  std::optional<RunFailure> echo_;
  CollectiveBarrier collectives_;
  Time collectives_since_{};
};

}  // namespace headway::control
