#include "sim/data/scenario.hpp"

namespace headway::data::sim {
namespace {

void add_units(Scenario& scenario, Random& random) {
  const bool is_filtered = random.one_in(3);
  const int bytes_of_row = 1 + random.below(20);
  for (int count = random.below(25); count > 0; --count) {
    const int source_rows = random.one_in(6) ? 0 : 1 + random.below(random.one_in(5) ? 120 : 25);
    const int rows = is_filtered ? random.below(source_rows + 1) : source_rows;
    scenario.rows.push_back(rows);
    scenario.units.push_back({is_filtered ? -1 : rows, std::int64_t{source_rows} * bytes_of_row});
  }
}

Phase phase_of(const Scenario& scenario, Random& random) {
  Phase phase;
  phase.machines = 1 + random.below(scenario.order.lanes);
  phase.shares.world_size = phase.machines + random.below(5);
  phase.shares.batch_rows = 1 + random.below(12);
  phase.report_every = 1 + random.below(4);
  phase.is_shared = random.one_in(3);
  phase.second_is_late = random.one_in(2);
  return phase;
}

}  // namespace

Scenario scenario_of(Random& random) {
  Scenario scenario;
  add_units(scenario, random);
  OrderConfig& order = scenario.order;
  order.seed = static_cast<std::uint64_t>(random.below(1000));
  order.epoch = static_cast<std::uint32_t>(random.below(5));
  order.permutes_units = random.one_in(2);
  order.permutes_rows = random.one_in(2);
  order.window_bytes = 1 + random.below(800);
  order.lanes = lanes_for(1 + random.below(5));
  scenario.budget_bytes = 100 + random.below(4000);
  const bool is_limited = random.one_in(5);
  const int rows_max = is_limited ? random.below(300) : -1;
  const bool equal = !random.one_in(5);
  const bool drop_last = random.one_in(5);
  for (int kills = random.below(4); kills >= 0; --kills) {
    Phase phase = phase_of(scenario, random);
    phase.shares.rows_max = rows_max;
    phase.shares.equal = equal;
    phase.shares.drop_last = drop_last;
    phase.steps_max = kills > 0 ? random.below(12) : -1;
    scenario.phases.push_back(phase);
  }
  return scenario;
}

}  // namespace headway::data::sim
