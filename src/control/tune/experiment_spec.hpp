#pragma once

#include "control/tune/scheduler.hpp"
#include "core/json.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::control::tune {

/// What happens to the trials of earlier drivers that have not ended, or that have errored.
struct RestoreSpec {
  bool unfinished = false;  ///< Resumed from their newest checkpoints; else they stay.
  bool errored = false;
};
BOOST_DESCRIBE_STRUCT(RestoreSpec, (), (unfinished, errored))

/// ExperimentSpec::prepares of a search that does not learn from results.
inline constexpr int trials_ready = 4;

/// All that an experiment is, beside its search space and what a trial does.
struct ExperimentSpec {
  std::string path;  ///< Its folder.
  std::optional<std::string> metric = {};
  std::optional<std::string> mode = {};
  JsonObject scheduler = {{"kind", "fifo"}};               ///< See Scheduler::make.
  std::optional<std::map<std::string, double>> stop = {};  ///< By metric: a trial ends there.
  std::optional<int> max_concurrent = {};                  ///< Unset: as there are slots.
  /// How many trials beyond those that may run are suggested and made ready, so that a place that
  /// gets free finds one. Each is suggested without the results of those that run then.
  std::optional<int> prepares = {};
  std::optional<double> time_budget_s = {};  ///< Of each driver.
  bool fail_fast = false;                    ///< The first error ends all.
  bool asks = false;                         ///< The front end decides, too.
  bool overrules = false;                    ///< … and knows the scheduler's.
  /// The front end says which trial starts where there is a place.
  bool chooses = false;
  /// A report without a metric that is needed is an error.
  bool strict = true;
  /// Metrics that each report must have beside the scheduler's.
  std::vector<std::string> needs = {};
  std::uint64_t seed = 0;
  RestoreSpec restore = {};
  /// Where its trials' folders are; empty: in its folder. No member that is described: the journal
  /// must not have the secrets of a URL.
  std::string trials_location = {};
};
BOOST_DESCRIBE_STRUCT(ExperimentSpec, (),
                      (path, metric, mode, scheduler, stop, max_concurrent, prepares, time_budget_s, fail_fast, asks,
                       overrules, chooses, strict, needs, seed, restore))

/// Whether a place that gets free is anybody's whom the scheduler or the front end chooses. They
/// know of each end before: a trial has its place, and its slots, until its processes are gone.
bool chooses_among_trials(const ExperimentSpec& spec);

/// Errors: `invalid_argument`, naming the argument.
Result<void> validate(const ExperimentSpec& spec);

/// The spec's scheduler, which has seen nothing. Errors: as above.
Result<Scheduler> scheduler_of(const ExperimentSpec& spec);

/// A spec whose members may be missing: then they have their defaults. Errors: `invalid_argument`.
Result<ExperimentSpec> experiment_of(const std::string& json);

}  // namespace headway::control::tune
