#include "sim/data/seeds.hpp"

#include "sim/data/epoch_run.hpp"
#include "sim/data/invariants.hpp"

namespace headway::data::sim {

std::optional<std::string> run_seed(std::uint64_t seed) {
  Random random(seed);
  const Scenario scenario = scenario_of(random);
  try {
    EpochRun(scenario, random).run();
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return {};
}

}  // namespace headway::data::sim
