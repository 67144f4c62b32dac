#include "data/wider_number.hpp"

#include <boost/test/unit_test.hpp>

#include <array>

namespace headway::data {

BOOST_AUTO_TEST_SUITE(types_of_numbers)

BOOST_AUTO_TEST_CASE(have_one_that_has_both) {
  struct Row {
    const char* one;
    const char* other;
    const char* both;
  };
  constexpr std::array rows = {
      Row{"int8", "int64", "int64"},      Row{"uint8", "uint16", "uint16"}, Row{"int8", "uint8", "int16"},
      Row{"int64", "uint32", "int64"},    Row{"int8", "uint32", "int64"},   Row{"int16", "uint16", "int32"},
      Row{"halffloat", "float", "float"}, Row{"float", "double", "double"}, Row{"int8", "halffloat", "double"},
      Row{"uint64", "float", "double"},   Row{"int32", "int32", "int32"}};
  for (const Row& row : rows) {
    BOOST_TEST(wider_number(row.one, row.other).value_or("none") == row.both, row.one << " " << row.other);
    BOOST_TEST(wider_number(row.other, row.one).value_or("none") == row.both, row.other << " " << row.one);
  }
}

BOOST_AUTO_TEST_CASE(have_none_where_no_type_has_both) {
  BOOST_TEST(!wider_number("int8", "uint64"));
  BOOST_TEST(!wider_number("int8", "string"));
  BOOST_TEST(!wider_number("bool", "int8"));
  BOOST_TEST(!wider_number("null", "null"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
