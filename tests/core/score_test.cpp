#include "core/score.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>

namespace headway {

BOOST_AUTO_TEST_SUITE(score_suite)

BOOST_AUTO_TEST_CASE(the_highest_or_the_lowest_is_the_best_and_the_later_of_equals) {
  const std::vector<JsonObject> metrics{{{"loss", 2}}, {{"loss", 1.0}}, {{"loss", 1}}, {{"loss", 2}}};
  BOOST_TEST(best_of(metrics, "loss", "min").value() == 2U);
  BOOST_TEST(best_of(metrics, "loss", "max").value() == 3U);
}

BOOST_AUTO_TEST_CASE(what_is_missing_or_no_number_is_passed_over) {
  const std::vector<JsonObject> metrics{{{"loss", "low"}}, {{"eval", {{"loss", -3}}}}, {{"loss", std::nan("")}}};
  BOOST_TEST(best_of(metrics, "eval/loss", "max").value() == 1U);
  BOOST_TEST(!best_of(metrics, "loss", "max").has_value());
  BOOST_TEST(!best_of({}, "loss", "min").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
