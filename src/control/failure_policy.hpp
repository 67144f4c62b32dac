#pragma once

#include "core/config.hpp"

#include <string>

namespace headway::control {

/// How many failures of the worker group a run survives.
class FailurePolicy {
 public:
  explicit FailurePolicy(FailureConfig config) : config_(config) {}

  /// Counts one failure; true when the group may be started again.
  bool allow_restart() { return ++failures_ <= config_.max_failures || config_.max_failures == -1; }

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
};

}  // namespace headway::control
