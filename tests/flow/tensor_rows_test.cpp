#include "flow/tensor_rows.hpp"

#include <arrow/api.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/variable_shape_tensor.h>
#include <arrow/json/from_string.h>

#include <boost/test/unit_test.hpp>

namespace headway::flow {
namespace {

using Type = std::shared_ptr<arrow::DataType>;

std::shared_ptr<arrow::Array> rows_from(const Type& type, const std::string& json) {
  if (type->id() != arrow::Type::EXTENSION) return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  const auto& storage = static_cast<const arrow::ExtensionType&>(*type).storage_type();
  return arrow::ExtensionType::WrapArray(type, arrow::json::ArrayFromJSONString(storage, json).ValueOrDie());
}

void check(const std::shared_ptr<arrow::Array>& given, const std::shared_ptr<arrow::Array>& expected) {
  const auto made = with_row_type(given, expected->type()).ValueOrDie();
  BOOST_TEST(made->ValidateFull().ok());
  BOOST_TEST(made->Equals(*expected), made->ToString());
}

std::string error_of(const std::shared_ptr<arrow::Array>& given, const Type& type) {
  return with_row_type(given, type).status().message();
}

const Type pairs = arrow::extension::fixed_shape_tensor(arrow::int32(), {2});
const Type any_length = arrow::extension::variable_shape_tensor(arrow::int32(), 1);

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_rows)

BOOST_AUTO_TEST_CASE(lists_and_tensors_of_one_dimension_become_each_other) {
  const std::string lists = "[[1, 2], null, [3, 4]]";
  const std::vector<std::shared_ptr<arrow::Array>> alike{
      rows_from(pairs, lists),
      rows_from(any_length, R"([{"data": [1, 2], "shape": [2]}, null, {"data": [3, 4], "shape": [2]}])"),
      rows_from(arrow::list(arrow::int32()), lists), rows_from(arrow::large_list(arrow::int32()), lists)};
  for (const auto& given : alike) {
    for (const auto& expected : alike) {
      check(given, expected);
      check(given->Slice(1), expected->Slice(1));
      check(given->Slice(0, 0), expected->Slice(0, 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_become_wider) {
  const Type wide = arrow::extension::variable_shape_tensor(arrow::float64(), 1);
  check(rows_from(pairs, "[[1, 2]]"), rows_from(wide, R"([{"data": [1, 2], "shape": [2]}])"));
}

BOOST_AUTO_TEST_CASE(tensors_keep_their_shapes) {
  const Type two_by_three = arrow::extension::fixed_shape_tensor(arrow::int8(), {2, 3});
  const Type three_by_two = arrow::extension::fixed_shape_tensor(arrow::int8(), {3, 2});
  const Type any_shape = arrow::extension::variable_shape_tensor(arrow::int8(), 2);
  const auto given = rows_from(two_by_three, "[[1, 2, 3, 4, 5, 6]]");
  const auto shaped = rows_from(any_shape, R"([{"data": [1, 2, 3, 4, 5, 6], "shape": [2, 3]}])");
  check(given, shaped);
  check(shaped, given);
  BOOST_TEST(error_of(given, three_by_two).starts_with("an array has the shape [2, 3], and those before it [3, 2]"));
  BOOST_TEST(error_of(given, any_length) == "arrays of 2 dimensions, and those before of 1");
  BOOST_TEST(error_of(given, arrow::list(arrow::int8())) == "arrays of 2 dimensions are no lists of numbers");
}

BOOST_AUTO_TEST_CASE(a_row_of_another_length_is_no_tensor_of_one_shape) {
  const auto lists = rows_from(arrow::list(arrow::int32()), "[[1, 2], [3]]");
  BOOST_TEST(error_of(lists, pairs).starts_with("an array has the shape [1], and those before it [2]"));
}

BOOST_AUTO_TEST_CASE(files_have_lists) {
  const Type any_shape = arrow::extension::variable_shape_tensor(arrow::int8(), 2);
  const auto schema = arrow::schema({arrow::field("a", any_length), arrow::field("b", any_shape)});
  BOOST_TEST(with_lists(schema)->field(0)->type()->Equals(*arrow::list(arrow::int32())));
  BOOST_TEST(with_lists(schema)->field(1)->type()->Equals(*any_shape));
  const auto plain = arrow::schema({arrow::field("a", arrow::int8())});
  BOOST_TEST(with_lists(plain) == plain);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
