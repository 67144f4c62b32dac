#include "sim/tune/seeds.hpp"

#include <boost/test/unit_test.hpp>

/// A few simulated experiments with every build of the tests; the planted bugs have the many.
namespace headway::control::tune::sim {

BOOST_AUTO_TEST_SUITE(simulated_experiments_suite)

BOOST_AUTO_TEST_CASE(whenever_drivers_die_trials_end_once_by_the_verdicts_of_an_independent_model) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    if (const auto wrong = run_seed(seed)) BOOST_ERROR("seed " << seed << ": " << *wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune::sim
