#pragma once

#include "control/run_view.hpp"
#include "dashboard/overview.hpp"
#include "dashboard/verdict.hpp"

#include <memory>
#include <optional>
#include <string>

namespace headway::dashboard {

/// A run in the page's list.
struct RunSummary {
  std::string id;
  std::string name;
  std::string path;   ///< Without credentials.
  std::string state;  ///< A RunState's name, or "lost".
  RunVerdict verdict;
  int attempt = 0;
  int workers = 0;
  std::int64_t reports = 0;
  std::optional<double> started_unix_s;
  double time_total_s = 0;
  JsonObject last;  ///< The last report's metrics.
  /// Of a run that has ended: why it is so, beside the verdict ("slow: rank 5 took ...").
  std::optional<std::string> cause;
  std::optional<double> cause_since_unix_s;  ///< When the rank became slow.
  /// Of a run that has ended after several attempts: why the last one began, and what that cost.
  std::optional<std::string> restart;
  std::optional<std::string> experiment;
};
BOOST_DESCRIBE_STRUCT(RunSummary, (),
                      (id, name, path, state, verdict, attempt, workers, reports, started_unix_s, time_total_s, last,
                       cause, cause_since_unix_s, restart, experiment))

/// `experiment`: whose trial it is.
RunSummary summary_of(const std::string& id, const std::string& path, const control::RunView& view,
                      const VerdictContext& context, std::optional<std::string> experiment = {});

/// What the history of a run that has ended adds: why it is as it is, and how many workers it had.
/// Reads no more than the ends of the history, and of a run that was restarted its reports, where
/// they are not many.
void add_history(RunSummary& summary, const std::string& folder, const control::RunView& view, VerdictContext context);

/// A line of result.json without what Headway has added to it.
JsonObject user_metrics(const JsonObject& line);

/// Numbers and short texts of a report's metrics; the page's list has no room for more.
JsonObject short_metrics(const JsonObject& metrics);

std::shared_ptr<const Part> part_of(const RunSummary& summary);

}  // namespace headway::dashboard
