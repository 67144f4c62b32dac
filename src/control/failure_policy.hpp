#pragma once

#include "core/config.hpp"
#include "core/time.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace headway::control {

/// What a failure is counted as.
enum class FailureCause {
  group,  ///< The training function, a worker process or a node failed: max_failures.
  /// After a group had trained, another one could not be started: controller_failure_limit.
  start,
  preemption  ///< A node was taken away, with notice: max_preemption_failures.
};

/// How many failures of each cause a run survives.
class FailurePolicy {
 public:
  explicit FailurePolicy(FailureConfig config) : config_(config) {}

  /// Counts one failure; true when the group may be started again.
  bool allow_restart(FailureCause cause) { return ++counts_.at(place(cause)) <= limit(cause) || limit(cause) == -1; }

  /// How long the next attempt should wait. A group that dies again and again before its first
  /// report would else be started hundreds of times a second: from the second such death on 0.1 s,
  /// doubled with each, 30 s at most.
  Duration restart_wait(FailureCause cause, bool had_reported) {
    if (cause == FailureCause::preemption) return Duration::zero();  // It goes elsewhere.
    early_deaths_ = had_reported ? 0 : early_deaths_ + 1;
    if (early_deaths_ < 2) return Duration::zero();
    const int doublings = std::min(early_deaths_ - 2, 16);
    return std::min<Duration>(std::chrono::milliseconds(100) * (1 << doublings), std::chrono::seconds(30));
  }

  int count(FailureCause cause) const { return counts_.at(place(cause)); }
  /// "failure 2 of 3 allowed", "preemption 2, no limit".
  std::string count_text(FailureCause cause) const {
    const std::string text = name(cause) + std::to_string(count(cause));
    return limit(cause) == -1 ? text + ", no limit" : text + " of " + std::to_string(limit(cause)) + " allowed";
  }
  /// Why no restart follows; empty where none was ever wanted.
  std::string end_text(FailureCause cause) const {
    const char* budget = cause == FailureCause::group   ? "max_failures"
                         : cause == FailureCause::start ? "controller_failure_limit"
                                                        : "max_preemption_failures";
    if (cause == FailureCause::group && limit(cause) == 0) return "";
    return "It is not started again: FailureConfig." + std::string(budget) + " is " + std::to_string(limit(cause)) +
           ", and this is " + name(cause) + std::to_string(count(cause)) + ".\n";
  }

 private:
  static const char* name(FailureCause cause) {
    return cause == FailureCause::group ? "failure " : cause == FailureCause::start ? "failed start " : "preemption ";
  }
  static std::size_t place(FailureCause cause) { return static_cast<std::size_t>(cause); }
  int limit(FailureCause cause) const {
    switch (cause) {
      case FailureCause::group: return config_.max_failures;
      case FailureCause::start: return config_.controller_failure_limit;
      case FailureCause::preemption: return config_.max_preemption_failures;
    }
    return 0;
  }

  FailureConfig config_;
  std::array<int, 3> counts_{};
  int early_deaths_ = 0;  ///< In a row.
};

}  // namespace headway::control
