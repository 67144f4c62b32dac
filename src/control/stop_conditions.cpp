#include "control/stop_conditions.hpp"

#include "core/config.hpp"
#include "core/score.hpp"

namespace headway::control {
namespace {

/// A metric of the user's wins over an automatic one of its name, as in the results.
std::optional<double> number_of(const ReportLine& line, const std::string& name) {
  if (const Json* metric = find_path(line.metrics, name)) {
    if (metric->is_bool()) return metric->get_bool() ? 1 : 0;
    return score_of(line.metrics, name, "max");
  }
  if (name == "done") return 0;  // As in each result of a run that goes on.
  if (name == "training_iteration") return static_cast<double>(line.iteration);
  if (name == "iterations_since_restore") return static_cast<double>(line.iterations_since_restore);
  if (name == "time_total_s") return line.time_total_s;
  if (name == "time_since_restore") return line.time_since_restore_s;
  if (name == "time_this_iter_s") return line.time_this_iter_s;
  return std::nullopt;
}

}  // namespace

StopConditions::Verdict StopConditions::judge(const ReportLine& line) {
  Verdict verdict;
  for (const auto& [name, limit] : limits_) {
    const std::optional<double> value = number_of(line, name);
    if (value && *value >= limit) {
      verdict.stop = name + " is " + number_text(*value) + " (RunConfig.stop: " + number_text(limit) + ")";
      return verdict;
    }
    if (value || warned_ || find_path(line.metrics, name) != nullptr) continue;
    warned_ = true;
    std::string there;
    for (const auto& metric : line.metrics) there += (there.empty() ? "" : ", ") + std::string(metric.key());
    verdict.warning = "RunConfig.stop names \"" + name + "\", which the report does not have; it has " +
                      (there.empty() ? "no metrics" : there) + ", and the automatic ones";
  }
  return verdict;
}

}  // namespace headway::control
