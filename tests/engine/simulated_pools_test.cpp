#include "sim/engine/pool_run.hpp"

#include <boost/test/unit_test.hpp>

/// Random groups, joins, losses and preemptions, through the supply (sim/engine/).
namespace headway::engine {

BOOST_AUTO_TEST_SUITE(simulated_pools_suite)

BOOST_AUTO_TEST_CASE(small_clusters_serve_everybody_and_give_all_back) {
  sim::PoolCounts all;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    sim::PoolCounts counts;
    if (const auto wrong = sim::run_seed(seed, {}, &counts)) BOOST_ERROR("seed " << seed << ": " << *wrong);
    all.lost += counts.lost;
    all.preempted += counts.preempted;
    all.given_back += counts.given_back;
  }
  BOOST_TEST(all.lost > 300);
  BOOST_TEST(all.preempted > 300);
  BOOST_TEST(all.given_back > 300);
}

BOOST_AUTO_TEST_CASE(ten_thousand_nodes_come_are_lost_and_go) {
  sim::PoolCounts counts;
  const sim::Scale scale{10'000, 2, 40, 9'990, std::chrono::seconds(1)};
  if (const auto wrong = sim::run_seed(7, scale, &counts)) BOOST_ERROR(*wrong);
  BOOST_TEST(counts.nodes_most >= 10'000);
  BOOST_TEST(counts.lost > 5);
  BOOST_TEST(counts.preempted > 5);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
