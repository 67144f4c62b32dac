#pragma once

#include "control/tune/experiment_spec.hpp"
#include "core/time.hpp"
#include "sim/random.hpp"

#include <optional>
#include <vector>

/// The simulated world of experiments: trials with tables of scores on a few slots, drivers that
/// are killed at any moment, and a front end that answers late.
namespace headway::control::tune::sim {

using Random = ::headway::sim::Random;

/// What a trial does.
struct Course {
  std::vector<int> scores;         ///< Of its steps; few values, so that ties are frequent.
  int checkpoint_every = 0;        ///< Steps; 0: it makes none.
  std::optional<int> raises_at{};  ///< The step before which it raises, every time.
  Duration step_time{};
};

struct Scenario {
  ExperimentSpec spec;
  std::vector<Course> courses;  ///< As many as the search has suggestions.
  int slots = 1;
  std::optional<int> limit{};            ///< The search has no more than so many trials at once.
  bool returns_early = false;            ///< Slots are free when a trial's function has returned.
  std::vector<Duration> kills;           ///< How long each driver but the last one lives.
  std::optional<Duration> stop_after{};  ///< The user ends the last driver's experiment.
};

Scenario scenario_of(Random& random);

}  // namespace headway::control::tune::sim
