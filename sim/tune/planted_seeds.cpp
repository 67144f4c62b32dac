#include "sim/planted/planted.hpp"
#include "sim/tune/seeds.hpp"

namespace headway::sim {

std::optional<FoundBy> first_found(std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    if (const auto wrong = control::tune::sim::run_seed(seed)) return FoundBy{seed, *wrong};
  }
  return {};
}

}  // namespace headway::sim
