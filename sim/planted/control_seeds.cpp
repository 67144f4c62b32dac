#include "sim/planted/planted.hpp"
#include "sim/seeds.hpp"

namespace headway::sim {

std::optional<FoundBy> first_found(std::uint64_t seeds) {
  const Tally tally = run_seeds(0, seeds, 1, 1);
  if (tally.breaches.empty()) return {};
  return FoundBy{tally.breaches.front().seed, tally.breaches.front().words};
}

}  // namespace headway::sim
