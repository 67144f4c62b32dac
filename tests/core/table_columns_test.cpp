#include "core/table_columns.hpp"

#include <boost/test/unit_test.hpp>

/// No metric loses its column in silence.
namespace headway {

namespace {

using Names = std::vector<std::string>;

Names numbered(int count) {
  Names names;
  for (int i = 0; i < count; ++i) names.push_back("metric_" + std::to_string(i));
  return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_metrics_have_columns_where_they_fit) {
  const TableColumns columns = choose_columns({"epoch", "loss", "eval/accuracy"}, "loss", 80);
  BOOST_TEST(columns.shown == (Names{"epoch", "loss", "eval/accuracy"}));
  BOOST_TEST(columns.more == 0);
}

BOOST_AUTO_TEST_CASE(on_a_narrow_terminal_the_first_metrics_and_the_score_stay_and_the_rest_is_counted) {
  Names names = numbered(12);
  names.emplace_back("loss");
  const TableColumns columns = choose_columns(names, "loss", 80);
  BOOST_TEST(columns.shown == (Names{"metric_0", "metric_1", "loss"}));
  BOOST_TEST(columns.more == 10);
  BOOST_TEST(more_title(columns.more) == "(+10 more)");
  const TableColumns wide = choose_columns(names, "loss", 140);
  BOOST_TEST(wide.shown.size() == 9U);
  BOOST_TEST(wide.shown.back() == "loss");
  BOOST_TEST(wide.more == 4);
}

BOOST_AUTO_TEST_CASE(where_the_output_is_no_terminal_sixteen_are_shown) {
  BOOST_TEST(choose_columns(numbered(16), std::nullopt, std::nullopt).more == 0);
  const TableColumns columns = choose_columns(numbered(40), "metric_39", std::nullopt);
  BOOST_TEST(columns.shown.size() == 16U);
  BOOST_TEST(columns.shown.back() == "metric_39");
  BOOST_TEST(columns.more == 24);
}

BOOST_AUTO_TEST_CASE(a_terminal_that_is_too_narrow_for_anything_shows_the_score_or_the_first_metric) {
  BOOST_TEST(choose_columns({"a", "b", "loss"}, "loss", 20).shown == (Names{"loss"}));
  BOOST_TEST(choose_columns({"a", "b", "loss"}, std::nullopt, 20).shown == (Names{"a"}));
  BOOST_TEST(choose_columns({"a", "b"}, "not reported", 20).shown == (Names{"a"}));
  BOOST_TEST(choose_columns({}, "loss", 20).shown.empty());
}

}  // namespace headway
