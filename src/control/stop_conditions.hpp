#pragma once

#include "control/run_outcome.hpp"

#include <map>
#include <optional>
#include <string>

namespace headway::control {

/// Metrics that end a run by their size: it is over at the first report in which one of them has
/// come to its value.
class StopConditions {
 public:
  /// By metric, '/' between nested keys, or one of the automatic numbers of a report
  /// ("training_iteration", "time_total_s", ...).
  using Limits = std::map<std::string, double>;

  explicit StopConditions(std::optional<Limits> limits) : limits_(std::move(limits).value_or(Limits{})) {}

  struct Verdict {
    std::optional<std::string> stop;     ///< Why the run ends.
    std::optional<std::string> warning;  ///< Once: a metric that the report does not have.
  };
  Verdict judge(const ReportLine& line);

 private:
  Limits limits_;
  bool warned_ = false;
};

}  // namespace headway::control
