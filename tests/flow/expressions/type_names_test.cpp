#include "flow/expressions/type_names.hpp"

#include "flow/arrow_values.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::flow {

BOOST_AUTO_TEST_SUITE(a_type)

BOOST_AUTO_TEST_CASE(is_found_by_the_name_that_arrow_prints) {
  const auto point =
      arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("tags", arrow::list(arrow::utf8()))});
  const std::vector<std::shared_ptr<arrow::DataType>> types = {arrow::int8(),
                                                               arrow::uint64(),
                                                               arrow::float16(),
                                                               arrow::float32(),
                                                               arrow::float64(),
                                                               arrow::utf8(),
                                                               arrow::large_utf8(),
                                                               arrow::binary(),
                                                               arrow::boolean(),
                                                               arrow::null(),
                                                               arrow::date32(),
                                                               arrow::date64(),
                                                               arrow::time32(arrow::TimeUnit::SECOND),
                                                               arrow::time64(arrow::TimeUnit::NANO),
                                                               arrow::timestamp(arrow::TimeUnit::MICRO),
                                                               arrow::timestamp(arrow::TimeUnit::NANO, "Europe/Rome"),
                                                               arrow::duration(arrow::TimeUnit::MILLI),
                                                               arrow::decimal128(10, 2),
                                                               arrow::decimal256(50, -3),
                                                               arrow::fixed_size_binary(16),
                                                               arrow::list(arrow::int64()),
                                                               arrow::large_list(arrow::list(arrow::boolean())),
                                                               arrow::fixed_size_list(arrow::float32(), 3),
                                                               point,
                                                               arrow::map(arrow::utf8(), point),
                                                               arrow::dictionary(arrow::int32(), arrow::utf8())};
  for (const auto& type : types) {
    const auto found = must(type_of_name(type->ToString()));
    BOOST_TEST(found->Equals(*type), type->ToString() << " was taken for " << found->ToString());
  }
  BOOST_TEST(must(type_of_name("list<int64>"))->Equals(*arrow::list(arrow::int64())));
  BOOST_TEST(must(type_of_name("float32"))->Equals(*arrow::float32()));
}

BOOST_AUTO_TEST_CASE(that_nobody_knows_is_refused_by_name) {
  for (const char* name : {"", "int", "list<", "list<int8>x", "timestamp[h]", "struct<int8>", "decimal128(1)"}) {
    BOOST_TEST(contains(error_of(type_of_name(name)), std::string("type ") + name + " is unknown"), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
