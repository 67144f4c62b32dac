#pragma once

#include "library/run_request.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// An experiment as the public side asks for it, and its end as it gets it back. JSON as text; see
/// worker_bridge.hpp.
namespace headway::library {

struct ExperimentRequest {
  RunRequest trial;  ///< What all trials have in common; `run.name` is the experiment's.
  std::string metric;
  std::string mode;
  std::string scheduler_json;  ///< As control::tune::Scheduler::make takes it.
  std::int64_t trials = 0;
  std::optional<int> max_concurrent;
  std::optional<double> time_budget_s;
  std::map<std::string, double> stop;
  bool fail_fast = false;
  bool resume = false;
  std::uint64_t seed = 0;
  /// By the number of a trial: its configuration, a JSON object, and what sets it apart in words.
  std::function<std::string(std::int64_t number)> config_of;
  std::function<std::string(std::int64_t number)> tag_of;
};

struct TrialEnd {
  std::string trial_id;
  std::string path;
  std::string config_json;
  std::string last_report_json = "null";
  std::string state;
  std::string reason;
};

struct ExperimentEnd {
  std::string path;
  std::vector<TrialEnd> trials;
};

/// Runs it to its end. Errors: as tune::Tuner::fit.
Result<ExperimentEnd> run_experiment(const ExperimentRequest& request);

}  // namespace headway::library
