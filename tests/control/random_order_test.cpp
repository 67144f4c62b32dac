#include "control/random_world.hpp"

#include <cstdlib>

namespace headway::control {

BOOST_AUTO_TEST_SUITE(random_order_suite)

/// HEADWAY_SEED=n runs that seed alone.
BOOST_AUTO_TEST_CASE(whatever_comes_in_whatever_order_nothing_is_lost_doubled_or_left_hanging) {
  const char* only = std::getenv("HEADWAY_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  const std::uint64_t seeds = only != nullptr ? 1 : 10'000;
  int breaches = 0;
  for (std::uint64_t seed = first; seed < first + seeds && breaches < 5; ++seed) {
    try {
      RandomWorld(seed).run();
    } catch (const std::exception& breach) {
      ++breaches;
      BOOST_ERROR("seed " << seed << ": " << breach.what());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
