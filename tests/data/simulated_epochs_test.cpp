#include "sim/data/seeds.hpp"

#include <boost/test/unit_test.hpp>

/// Random units, world sizes, machines, kills and resizes (sim/data/).
namespace headway::data {

BOOST_AUTO_TEST_SUITE(simulated_epochs_suite)

BOOST_AUTO_TEST_CASE(the_rows_of_any_kills_and_resizes_are_those_of_an_undisturbed_epoch) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    if (const auto wrong = sim::run_seed(seed)) BOOST_ERROR("seed " << seed << ": " << *wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
