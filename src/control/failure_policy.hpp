#pragma once

#include "core/config.hpp"
#include "core/time.hpp"

#include <algorithm>
#include <string>

namespace headway::control {

/// How many failures of the worker group a run survives.
class FailurePolicy {
 public:
  explicit FailurePolicy(FailureConfig config) : config_(config) {}

  /// Counts one failure; true when the group may be started again.
  bool allow_restart() { return ++failures_ <= config_.max_failures || config_.max_failures == -1; }

  /// How long the next attempt should wait. A group that dies again and again before its first report would else be started
  /// hundreds of times a second: from the second such death on 0.1 s, doubled with each, 30 s at most.
  Duration restart_wait(bool had_reported) {
    early_deaths_ = had_reported ? 0 : early_deaths_ + 1;
    if (early_deaths_ < 2) return Duration::zero();
    const int doublings = std::min(early_deaths_ - 2, 16);
    return std::min<Duration>(std::chrono::milliseconds(100) * (1 << doublings), std::chrono::seconds(30));
  }

  int failures() const { return failures_; }
  /// "failure 2 of 3 allowed" or "failure 2, no limit".
  std::string count_text() const {
    const std::string count = "failure " + std::to_string(failures_);
    return config_.max_failures == -1 ? count + ", no limit"
                                      : count + " of " + std::to_string(config_.max_failures) + " allowed";
  }

 private:
  FailureConfig config_;
  int failures_ = 0;
  int early_deaths_ = 0;  ///< In a row.
};

}  // namespace headway::control
