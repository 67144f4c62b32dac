#pragma once

#include "core/config.hpp"
#include "core/json.hpp"
#include "core/time.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace headway::control {

/// What a run can wait for, with others (or the whole run) held up by it.
enum class WaitKind {
  storage,     ///< The driver's storage: the run's folder, a checkpoint's directory, its manifest.
  ready,       ///< Ranks that have not become ready.
  setup,       ///< The backend's hooks on_start and on_training_start.
  report,      ///< Ranks that have not come to a report in which others wait.
  gathering,   ///< Ranks that have not come to a barrier() or broadcast in which others wait.
  upload,      ///< Ranks that store their files of a checkpoint.
  collective,  ///< Ranks that have not entered a collective in which others are.
  data,        ///< The data process of a rank, which gives it no batch.
  callback,    ///< The run's callbacks, which have not heard a report for which ranks wait.
  teardown,    ///< The backend's hook on_shutdown.
  exit         ///< Processes that have the order to end.
};

BOOST_DESCRIBE_ENUM(WaitKind, storage, ready, setup, report, gathering, upload, collective, data, callback, teardown,
                    exit)

/// One wait. Two with equal members are the same.
struct Wait {
  WaitKind kind = WaitKind::storage;
  /// Which of the run's reports, for `report`, `upload` and `storage`; which call of the attempt,
  /// for `gathering`; which rank, for `data`.
  std::int64_t index = 0;
  Time since{};

  bool operator==(const Wait&) const = default;
};

/// Decides when a wait is worth a word: after FailureConfig.hang_warn_s, then each time after twice
/// as long; and when it has taken long enough to end the attempt for it (hang_fail_s). Ranks that
/// waited for data when it was said are one wait, although each gets its batch by itself. Only what
/// others wait for is watched, so a long step alone is none.
///
/// It costs a run that goes well one timer each hang_warn_s at most, however many reports it makes.
class HangWatch {
 public:
  explicit HangWatch(const FailureConfig& config);

  bool on() const { return warn_ || fail_; }
  /// Whether somebody is being looked at, even for a wait that has ended.
  bool examining() const { return last_answered_ != examinations_; }
  /// The shorter of the limits.
  std::optional<Duration> first_limit() const {
    return warn_ && fail_ ? std::min(warn_, fail_) : warn_ ? warn_ : fail_;
  }

  struct Resolved {
    Wait wait;
    Duration took{};
  };
  struct Verdict {
    std::optional<Time> wake_at;  ///< Ask for a timer, and call `woken` when it fires.
    /// Look at whom this wait is for; then call `examined` with this number.
    std::optional<std::int64_t> examine;
    std::optional<Resolved> resolved;  ///< What the user was warned of has ended.
  };

  /// After everything that happened: what is waited for now.
  Verdict observe(Time now, const std::optional<Wait>& wait);
  void woken() { armed_.reset(); }

  enum class Outcome {
    stale,  ///< The wait has ended meanwhile.
    busy,   ///< Whoever is waited for is at work, and no warning is due.
    warn,
    fail
  };
  /// The examination is through. `busy`: whoever is waited for is at work, so that hang_fail_s
  /// counts from now.
  Outcome examined(Time now, std::int64_t examination, bool busy = false);

 private:
  /// Whether a wait is a part of the one that was warned of: another rank of the same stall.
  bool was_warned_of(const Wait& wait) const;
  bool may_fail() const;
  std::optional<Time> due() const;

  std::optional<Duration> warn_;
  std::optional<Duration> fail_;
  std::optional<Wait> wait_;
  Time idle_since_{};  ///< The wait's beginning, or when somebody was last seen at work.
  std::optional<Time> next_warning_;
  Duration interval_{};
  bool warned_ = false;
  Time warned_since_{};  ///< The beginning of what was warned of.
  Time warned_at_{};
  bool failed_ = false;
  std::optional<Time> armed_;
  std::optional<std::int64_t> open_;  ///< The examination under way.
  std::int64_t examinations_ = 0;
  std::int64_t last_answered_ = 0;
};

}  // namespace headway::control
