#pragma once

#include "data/plan.hpp"

#include <optional>

namespace headway::data {

/// Function workers that a data process could use beside those of its machine.
struct WantedWorkers {
  std::optional<int> workers = 0;  ///< Unset: as many as there are CPUs for.
  double cpus = 1;                 ///< That each uses.
};

/// What a plan says of its functions' workers, less one for each of the machine's `cores`. `first`:
/// other nodes do what they can, so all that the plan names are wanted there; for a function
/// without a number, as many as there are CPUs for.
WantedWorkers workers_elsewhere(const Plan& plan, int cores, bool first);

}  // namespace headway::data
