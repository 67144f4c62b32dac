#pragma once

#include "data/cursor.hpp"
#include "sim/random.hpp"

#include <cstdint>
#include <vector>

/// The simulated world of data sets: units that are read at random moments, machines with budgets,
/// ranks that consume at random speeds, kills, and resumed runs of another size.
namespace headway::data::sim {

using Random = ::headway::sim::Random;

/// One life of the ranks: from a cursor, or from the beginning, to the epoch's end or to a kill.
struct Phase {
  Shares shares;                ///< Without `ranks`.
  int machines = 1;             ///< Ranks are dealt to them in blocks.
  int steps_max = -1;           ///< Killed after so many steps; -1: it trains to the end.
  int report_every = 1;         ///< Steps.
  bool is_shared = false;       ///< Each machine reads a second data set, from the same budget.
  bool second_is_late = false;  ///< Nobody consumes it before the first one has ended.
};

struct Scenario {
  OrderConfig order;
  std::vector<UnitSize> units;     ///< As the metadata say.
  std::vector<std::int64_t> rows;  ///< What each unit has when it was read.
  std::vector<Phase> phases;       ///< The last one is not killed.
  std::int64_t budget_bytes = 0;
};

Scenario scenario_of(Random& random);

}  // namespace headway::data::sim
