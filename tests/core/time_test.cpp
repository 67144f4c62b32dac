#include "core/time.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

/// Seconds from a user, a file or a peer, however large.
namespace headway {

BOOST_AUTO_TEST_SUITE(time_suite)

BOOST_AUTO_TEST_CASE(seconds_become_durations_and_come_back) {
  for (const double seconds : {0.0, 0.5, 3600.25, 86'400.0 * 365, -2.5})
    BOOST_TEST(to_seconds(from_seconds(seconds)) == seconds);
}

BOOST_AUTO_TEST_CASE(what_is_beyond_all_bounds_counts_as_fifty_years_and_sums_still_fit) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double seconds : {1e300, 1e18, infinity}) {
    BOOST_TEST((from_seconds(seconds) == duration_max));
    BOOST_TEST((from_seconds(-seconds) == -duration_max));
    BOOST_TEST((from_seconds(seconds) + from_seconds(seconds) > from_seconds(seconds)));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_no_time) { BOOST_TEST((from_seconds(std::nan("")) == Duration{})); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
