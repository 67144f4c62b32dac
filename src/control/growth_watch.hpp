#pragma once

#include "core/time.hpp"

#include <optional>

namespace headway::control {

/// When an elastic group looks for capacity to grow, and when it is ended so that a larger one
/// replaces it. It looks only when the engine says that there may be more capacity, and not sooner
/// than one interval after its start or its last look. A growth that is found waits for the next
/// committed checkpoint, so that nothing is trained twice; but not longer than one interval, and
/// what a checkpoint that is being stored then takes.
class GrowthWatch {
 public:
  explicit GrowthWatch(double interval_s) : interval_(from_seconds(interval_s)) {}

  struct Step {
    bool look = false;            ///< Ask how much capacity there is.
    bool grow = false;            ///< End the group, as a larger one may go on.
    std::optional<Time> wake_at;  ///< Come back then, beside whatever happens before.
  };

  /// An attempt has begun: what was found for the last one is no more.
  void begin(Time now);
  void capacity_changed() { hinted_ = true; }
  /// Nodes are asked for anew, as many as there is capacity for.
  void asked() { hinted_ = false; }
  bool hinted() const { return hinted_; }
  /// The answer to a look: whether there is capacity for more workers than there are.
  void seen(Time now, bool larger);
  /// A checkpoint is committed, and nothing was reported since.
  void saved() { saved_ = true; }
  /// Something is reported that is in no checkpoint yet.
  void trained() { saved_ = false; }
  /// The time that was asked for is there.
  void woken() { waking_ = false; }

  /// Growing waits for no better moment any more than the end of a checkpoint that is being stored.
  bool due(Time now) const { return grow_by_ && now >= *grow_by_; }

  /// `storing`: a checkpoint is on its way to storage.
  Step advance(Time now, bool storing);

 private:
  Step wake(Time at);

  Duration interval_;
  bool hinted_ = false;
  bool looking_ = false;
  bool waking_ = false;
  bool saved_ = false;
  Time considered_{};            ///< The group's start, or the last look.
  std::optional<Time> grow_by_;  ///< There is capacity for more.
};

}  // namespace headway::control
