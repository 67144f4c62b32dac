#include "core/duration_histogram.hpp"

#include <boost/test/unit_test.hpp>

/// Quantiles of any number of durations.
namespace headway {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(duration_histogram)

BOOST_AUTO_TEST_CASE(quantiles_are_right_to_five_per_cent_and_the_longest_exactly) {
  DurationHistogram durations;
  for (int i = 1; i <= 100; ++i) durations.add(i * 1ms);
  BOOST_TEST(durations.count() == 100);
  BOOST_TEST((durations.total() == 5050ms));
  BOOST_TEST((durations.longest() == 100ms));
  BOOST_TEST(to_seconds(durations.quantile(0.5)) == 0.050, boost::test_tools::tolerance(0.05));
  BOOST_TEST(to_seconds(durations.quantile(0.95)) == 0.095, boost::test_tools::tolerance(0.05));
  BOOST_TEST((durations.quantile(1) <= 100ms));
}

BOOST_AUTO_TEST_CASE(none_gives_zero_and_what_is_too_short_or_too_long_counts) {
  DurationHistogram durations;
  BOOST_TEST((durations.quantile(0.5) == 0s));
  durations.add(0s);
  durations.add(-1s);
  durations.add(1000h);
  BOOST_TEST(durations.count() == 3);
  BOOST_TEST((durations.longest() == 1000h));
  BOOST_TEST((durations.quantile(0.5) < 2us));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
