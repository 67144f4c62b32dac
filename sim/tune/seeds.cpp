#include "sim/tune/seeds.hpp"

#include "sim/tune/experiment_world.hpp"

namespace headway::control::tune::sim {

std::optional<std::string> run_seed(std::uint64_t seed) {
  Random random(seed);
  const Scenario scenario = scenario_of(random);
  try {
    ExperimentWorld(scenario, random).run();
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return {};
}

}  // namespace headway::control::tune::sim
