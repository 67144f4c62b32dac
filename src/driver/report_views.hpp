#pragma once

#include "control/run_outcome.hpp"
#include "driver/event_file.hpp"
#include "driver/progress_csv.hpp"

#include <string>
#include <vector>

namespace headway::driver {

/// What is kept of a run's reports beside result.json, for programs that read it: progress.csv and
/// TensorBoard's events. A full disk costs rows, never the run. Used from one storage strand.
class ReportViews {
 public:
  /// `directory` is local; result.json lies in it.
  explicit ReportViews(const std::string& directory);

  /// `line` is the report's line, which is in result.json already; `now` is in seconds since 1970.
  /// Returns what the user should be warned of: each file's first failure.
  std::vector<std::string> append(const ReportLine& report, const JsonObject& line, double now);

  /// At the end of a run. Returns warnings.
  std::vector<std::string> finish();

 private:
  /// TensorBoard shows what has a curve: the user's own metrics, and how long it took.
  Result<void> append_event(const ReportLine& report, double now);

  ProgressCsv progress_;
  EventFile events_;
  bool told_progress_ = false;
  bool told_events_ = false;
};

}  // namespace headway::driver
