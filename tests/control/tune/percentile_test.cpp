#include "control/tune/percentile.hpp"

#include "control/tune/decision_words.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

/// What numpy 2.4 computes of the same numbers, to the last bit.
namespace headway::control::tune {

namespace {

const std::vector<double> drawn = {0.126, -0.132, 0.64,   0.105,  -0.536, 0.362,
                                   1.304, 0.947,  -0.704, -1.265, -0.623, 0.041};

double percentile_of_first(std::size_t count, double reduction_factor) {
  std::vector<double> values(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(count));
  std::ranges::sort(values);
  return percentile(values, (1 - 1 / reduction_factor) * 100);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(percentile_suite)

BOOST_AUTO_TEST_CASE(percentiles_are_numpys) {
  BOOST_TEST(percentile_of_first(2, 2) == -0x1.89374bc6a7f00p-9);
  BOOST_TEST(percentile_of_first(5, 2) == 0x1.ae147ae147ae1p-4);
  BOOST_TEST(percentile_of_first(12, 2) == 0x1.2b020c49ba5e3p-4);
  BOOST_TEST(percentile_of_first(2, 3) == 0x1.47ae147ae147ep-5);
  BOOST_TEST(percentile_of_first(5, 3) == 0x1.e76c8b4395811p-4);
  BOOST_TEST(percentile_of_first(12, 3) == 0x1.a32846ff513d1p-3);
  BOOST_TEST(percentile_of_first(2, 4) == 0x1.f7ced916872b0p-5);
  BOOST_TEST(percentile_of_first(5, 4) == 0x1.020c49ba5e354p-3);
  BOOST_TEST(percentile_of_first(12, 4) == 0x1.b9db22d0e5604p-2);
  BOOST_TEST(percentile_of_first(2, 2.5) == 0x1.758e219652bd0p-6);
  BOOST_TEST(percentile_of_first(5, 2.5) == 0x1.d07c84b5dcc64p-4);
  BOOST_TEST(percentile_of_first(12, 2.5) == 0x1.e1b089a027525p-4);
}

BOOST_AUTO_TEST_CASE(medians_are_numpys) {
  BOOST_TEST(median(drawn) == 0x1.2b020c49ba5e3p-4);
  BOOST_TEST(median({3, 1, 2}) == 2);
  BOOST_TEST(std::isnan(median({1, std::numeric_limits<double>::quiet_NaN(), 2})));
}

BOOST_AUTO_TEST_CASE(numbers_in_words) {
  BOOST_TEST(ordinal(75) == "75th");
  BOOST_TEST(ordinal(200.0 / 3) == "66.7th");
  BOOST_TEST(ordinal(100.0 / 3) == "33.3rd");
  BOOST_TEST(ordinal(11) == "11th");
  BOOST_TEST(ordinal(91) == "91st");
  BOOST_TEST(ordinal(2) == "2nd");
  BOOST_TEST(ordinal(33) == "33rd");
  BOOST_TEST(time_words("training_iteration", 4) == "iteration 4");
  BOOST_TEST(time_words("time_total_s", 4.25) == "time_total_s 4.25");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
