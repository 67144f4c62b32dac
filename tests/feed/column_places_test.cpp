#include "feed/column_places.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::feed {
namespace {

std::string shown_places(const std::vector<LayoutColumn>& columns, std::size_t nodes, std::size_t buffers) {
  std::string text;
  for (const auto& place : places_of(columns, nodes, buffers)) {
    text += place ? std::to_string(place->node) + "/" + std::to_string(place->buffer) + " " : "- ";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(column_places_suite)

BOOST_AUTO_TEST_CASE(columns_follow_each_other) {
  const std::vector<LayoutColumn> columns = {{"a", "int64", {}},
                                             {"b", "string", {}},
                                             {"c", "list<item: float>", {}},
                                             {"d", "uint8", {2, 2}},
                                             {"e", "fixed_size_list<item: int8 not null>[3]", {}},
                                             {"f", "null", {}},
                                             {"g", "timestamp[us, tz=UTC]", {}}};
  BOOST_TEST(shown_places(columns, 10, 18) == "0/0 1/2 2/5 4/9 6/12 8/15 9/16 ");
}

BOOST_AUTO_TEST_CASE(columns_behind_one_of_unknown_size_are_counted_from_the_end) {
  const std::vector<LayoutColumn> columns = {
      {"a", "int64", {}}, {"b", "struct<x: int64, y: string>", {}}, {"c", "bool", {}}};
  BOOST_TEST(shown_places(columns, 5, 10) == "0/0 - 4/8 ");
}

BOOST_AUTO_TEST_CASE(a_column_between_two_of_unknown_size_has_no_place) {
  const std::vector<LayoutColumn> columns = {
      {"a", "struct<x: int64>", {}}, {"b", "int64", {}}, {"c", "map<string, int64>", {}}, {"d", "int64", {}}};
  BOOST_TEST(shown_places(columns, 9, 17) == "- - - 8/15 ");
}

BOOST_AUTO_TEST_CASE(names_that_do_not_fit_the_slot_place_nothing) {
  const std::vector<LayoutColumn> columns = {{"a", "int64", {}}, {"b", "int64", {}}};
  BOOST_TEST(shown_places(columns, 3, 6) == "- - ");
  BOOST_TEST(shown_places(columns, 1, 2) == "- - ");
}

BOOST_AUTO_TEST_CASE(elements_and_lengths_are_in_the_name) {
  BOOST_TEST(element_of("large_list<element: list<item: double>>").value() == "list<item: double>");
  BOOST_TEST(!element_of("int64").has_value());
  BOOST_TEST(fixed_length_of("fixed_size_list<item: float>[12]").value() == 12);
  BOOST_TEST(fixed_length_of("fixed_size_binary[16]").value() == 16);
  BOOST_TEST(!fixed_length_of("timestamp[us]").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::feed
