#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace headway::control {

/// What is to be done when a timer fires.
enum class TimerPurpose {
  // Of an attempt: they are cancelled when its last process is gone.
  echo,         ///< Believe a failure that looks like another rank's echo.
  exit,         ///< Kill what has not exited.
  terminate,    ///< Kill what SIGTERM has not ended.
  restart,      ///< Start the next attempt.
  folder_sync,  ///< Bring the run's small files to remote storage.
  preemption,   ///< End the group that is to leave a node.
  // Of the run:
  artifacts,        ///< Copy the ranks' working directories.
  artifacts_limit,  ///< Stop the copy that is under way.
  hang,             ///< See whether somebody is waited for.
  look,             ///< See whether ranks are held up in a collective.
  growth,           ///< See whether an elastic group may grow.
  question,         ///< Answer the question `number` with what there is.
  notice,           ///< End the run, whose driver is to end.
  validation        ///< The validation `number` has had its time.
};

struct Timer {
  TimerPurpose purpose = TimerPurpose::echo;
  std::int64_t number = 0;  ///< Whose, where there are several.

  bool operator==(const Timer&) const = default;
};

/// The timers of a run that have been set and have not fired. Each has its own number, which
/// the driver gives back when it fires; a timer that was cancelled meanwhile then is nobody's.
class Timers {
 public:
  /// Its number. Timers that are equal may be set side by side.
  std::int64_t set(Timer timer);
  /// None of these counts any more.
  void cancel(Timer timer);
  /// Those of the attempt that has ended.
  void cancel_attempt();
  /// Whose the timer was that has fired; nothing for one that was cancelled.
  std::optional<Timer> fired(std::int64_t id);

 private:
  std::map<std::int64_t, Timer> set_;
  std::int64_t ids_ = 0;
};

}  // namespace headway::control
