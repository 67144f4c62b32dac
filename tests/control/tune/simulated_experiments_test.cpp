#include "sim/tune/seeds.hpp"

#include <boost/test/unit_test.hpp>

/// Simulated experiments with every build of the tests.
namespace headway::control::tune::sim {
namespace {

// Instrumented code is slow, and looks for other things: a few seeds are enough there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 1000;
#else
constexpr std::uint64_t seeds = 20'000;
#endif

}  // namespace

BOOST_AUTO_TEST_SUITE(simulated_experiments_suite)

BOOST_AUTO_TEST_CASE(whenever_drivers_die_trials_end_once_by_the_verdicts_of_an_independent_model) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    if (const auto wrong = run_seed(seed)) BOOST_ERROR("seed " << seed << ": " << *wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune::sim
