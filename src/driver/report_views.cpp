#include "driver/report_views.hpp"

#include "driver/flat_metrics.hpp"

#include <utility>

namespace headway::driver {

ReportViews::ReportViews(const std::string& directory)
    : progress_(directory + "/progress.csv", directory + "/result.json"), events_(directory) {}

std::vector<std::string> ReportViews::append(const ReportLine& report, const JsonObject& line, double now) {
  std::vector<std::string> warnings;
  if (const auto added = progress_.append(line); !added && !std::exchange(told_progress_, true)) {
    warnings.push_back("progress.csv lacks a report, which is in result.json: " + added.error().message);
  }
  if (const auto added = append_event(report, now); !added && !std::exchange(told_events_, true)) {
    warnings.push_back("TensorBoard's events lack a report, which is in result.json: " + added.error().message);
  }
  return warnings;
}

Result<void> ReportViews::append_event(const ReportLine& report, double now) {
  const Json this_iteration = report.time_this_iter_s;
  const Json total = report.time_total_s;
  FlatMetrics metrics = flat_metrics(report.metrics);
  if (!report.metrics.contains("time_this_iter_s")) metrics.emplace_back("time_this_iter_s", &this_iteration);
  if (!report.metrics.contains("time_total_s")) metrics.emplace_back("time_total_s", &total);
  return events_.append(metrics, report.iteration, now);
}

std::vector<std::string> ReportViews::finish() {
  if (const auto written = progress_.finish(); !written) {
    return {"progress.csv lacks columns or rows, which are in result.json: " + written.error().message};
  }
  return {};
}

}  // namespace headway::driver
