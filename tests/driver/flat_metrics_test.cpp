#include "driver/flat_metrics.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::driver {
namespace {

std::string flat(std::string_view text) {
  const Json metrics = *parse_json(text, "metrics");
  std::string all;
  for (const auto& [name, value] : flat_metrics(metrics.get_object())) {
    all += (all.empty() ? "" : " ") + name + "=" + json_text(*value);
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(flat_metrics_suite)

BOOST_AUTO_TEST_CASE(nested_names_are_joined_in_the_order_in_which_they_stand) {
  BOOST_TEST(flat(R"({"z": 1, "eval": {"loss": 2, "by": {"class": [3, 4]}}, "a": null})") ==
             "z=1 eval/loss=2 eval/by/class=[3,4] a=null");
  BOOST_TEST(flat(R"({"empty": {}})").empty());
}

BOOST_AUTO_TEST_CASE(of_a_name_that_comes_twice_the_less_nested_value_is_taken) {
  BOOST_TEST(flat(R"({"a": {"b": 1}, "a/b": 2})") == "a/b=2");
  BOOST_TEST(flat(R"({"a/b": 2, "a": {"b": 1}})") == "a/b=2");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
