#include "sim/seeds.hpp"

#include <boost/test/unit_test.hpp>

/// A few hundred simulated runs with every build of the tests; `headway_sim` runs the many (sim/).
namespace headway::sim {

BOOST_AUTO_TEST_SUITE(simulated_runs_suite)

BOOST_AUTO_TEST_CASE(whatever_breaks_in_whatever_order_nothing_is_lost_doubled_or_left_hanging) {
  const Tally tally = run_seeds(0, 500, 1, 5);
  for (const Breach& breach : tally.breaches) BOOST_ERROR("seed " << breach.seed << ": " << breach.words);
  BOOST_TEST(tally.faults >= 5 * tally.seeds);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::sim
