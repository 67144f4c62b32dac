#pragma once

#include "control/journal.hpp"
#include "control/report_pipeline.hpp"
#include "control/worker_group.hpp"
#include "core/report_line.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headway::control {

/// Counts the recorded reports of a run over its attempts and drivers, and knows how long these
/// took.
class ReportLedger {
 public:
  /// This driver has begun with the run.
  void start(Time now) { started_ = last_at_ = now; }
  /// Counts on from what earlier drivers have left.
  void take_up(const FoundRun& found);
  void begin_attempt(Time now) {
    attempt_started_ = now;
    in_attempt_ = 0;
  }

  /// Recorded over all attempts and drivers.
  std::int64_t count() const { return count_; }
  /// What the iterations of reports have beyond their count, since a checkpoint was cloned.
  std::int64_t iterations_ahead() const { return ahead_; }
  /// Recorded by this driver.
  std::int64_t of_this_driver() const { return count_ - taken_up_; }
  /// Recorded in the current attempt.
  std::int64_t in_attempt() const { return in_attempt_; }
  /// The last line that was recorded, and when; none until this driver has recorded one.
  const std::optional<ReportLine>& last() const { return last_; }
  Time last_at() const { return last_at_; }

  Time started() const { return started_; }
  Time attempt_started() const { return attempt_started_; }
  /// Of all drivers, without the time between them.
  Duration total(Time now) const { return earlier_ + (now - started_); }

  /// The report's line, were it recorded now.
  ReportLine line_of(const PendingReport& report, int attempt, const WorkerGroup& group, Time now) const;
  /// A checkpoint could not be stored, and its report counts without it.
  void dropped_checkpoint() { ++dropped_checkpoints_; }
  /// Over all attempts and drivers.
  std::int64_t dropped_checkpoints() const { return dropped_checkpoints_; }
  /// This line was recorded now.
  void record(const ReportLine& line, Time now);

 private:
  Time started_{};
  Duration earlier_{};  ///< How long earlier drivers of the run took.
  Time attempt_started_{};
  std::int64_t count_ = 0;
  std::int64_t taken_up_ = 0;  ///< Those of earlier drivers.
  std::int64_t ahead_ = 0;
  std::int64_t in_attempt_ = 0;
  std::int64_t dropped_checkpoints_ = 0;
  std::optional<ReportLine> last_;
  Time last_at_{};
};

}  // namespace headway::control
