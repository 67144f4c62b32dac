#pragma once

#include "control/report_pipeline.hpp"
#include "core/time.hpp"

#include <optional>

namespace headway::control {

/// How far the run's callbacks are behind its recorded reports, and the report whose ranks wait for
/// them.
class CallbackLag {
 public:
  /// `lag_max`: recorded reports that callbacks may not have heard while ranks go on; none: there
  /// are no callbacks.
  explicit CallbackLag(std::optional<int> lag_max) : lag_max_(lag_max) {}

  bool on() const { return lag_max_.has_value(); }
  /// Nobody waits in the new attempt.
  void begin_attempt() { held_.reset(); }

  void recorded(Time now) {
    if (lag_max_ && unheard_++ == 0) since_ = now;
  }
  /// The callbacks have heard the oldest report. False when they had heard every one.
  bool heard(Time now) {
    if (unheard_ == 0) return false;
    --unheard_;
    since_ = now;
    return true;
  }

  bool too_far() const { return lag_max_ && unheard_ > *lag_max_; }
  bool any_unheard() const { return unheard_ > 0; }
  /// When the oldest unheard report, or the last heard one, was.
  Time since() const { return since_; }

  /// A recorded report whose ranks wait until callbacks have caught up.
  void hold(PendingReport report) { held_ = std::move(report); }
  const std::optional<PendingReport>& held() const { return held_; }
  void release() { held_.reset(); }

 private:
  std::optional<int> lag_max_;
  int unheard_ = 0;
  Time since_{};
  std::optional<PendingReport> held_;
};

}  // namespace headway::control
