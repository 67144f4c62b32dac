#pragma once

#include "core/config.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headway::control {

/// When the ranks' working directories are brought to storage: one copy at a time, and another one
/// after it when something has asked for it meanwhile. Says what to do; the controller's commands
/// do it.
class SyncSchedule {
 public:
  explicit SyncSchedule(SyncConfig config) : config_(config) {}

  bool enabled() const { return config_.sync_artifacts; }
  bool on_checkpoint() const { return enabled() && config_.sync_artifacts_on_checkpoint; }
  Duration period() const { return from_seconds(config_.sync_period); }
  Duration timeout() const { return from_seconds(config_.sync_timeout); }
  const SyncConfig& config() const { return config_; }

  /// Something asks for a copy. True when it is to be begun now; else the one under way is followed
  /// by another.
  bool ask();

  /// Begins one: its number.
  std::int64_t begin();
  std::optional<std::int64_t> under_way() const { return under_way_; }

  struct Ended {
    bool again = false;                  ///< Another one is to be begun now.
    std::optional<std::string> warning;  ///< The first time that this went wrong in these words.
  };
  /// The outcome of the copy `number`; one that is not waited for any more changes nothing.
  Ended end(std::int64_t number, const std::optional<std::string>& error);

  /// Nobody waits for it any more, and nothing follows it.
  void give_up();

  /// Whether the newest copy has come to its end without an error.
  bool complete() const { return complete_; }

 private:
  SyncConfig config_;
  std::int64_t begun_ = 0;
  std::optional<std::int64_t> under_way_;
  bool again_ = false;
  bool complete_ = false;
  std::string last_error_;
};

}  // namespace headway::control
