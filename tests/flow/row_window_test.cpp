#include "flow/row_window.hpp"

#include <arrow/api.h>
#include <arrow/json/from_string.h>

#include <boost/test/unit_test.hpp>

#include <numeric>

namespace headway::flow {
namespace {

std::shared_ptr<arrow::RecordBatch> mixed_rows() {
  const std::vector<std::pair<std::shared_ptr<arrow::DataType>, std::string>> columns{
      {arrow::int64(), "[1, 2, 3, 4, 5, 6]"},
      {arrow::int8(), "[null, 2, null, 4, 5, 6]"},
      {arrow::boolean(), "[true, null, false, true, false, true]"},
      {arrow::utf8(), R"(["a", "bb", null, "d", "", "f"])"},
      {arrow::fixed_size_list(arrow::float32(), 3),
       "[[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1], [2, 2, 2], [3, 3, 3]]"},
      {arrow::fixed_size_binary(5), R"(["abcde", "bcdef", "cdefg", null, "efghi", "fghij"])"},
  };
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [type, json] : columns) {
    fields.push_back(arrow::field("c" + std::to_string(fields.size()), type));
    arrays.push_back(arrow::json::ArrayFromJSONString(type, json).ValueOrDie());
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), 6, arrays);
}

constexpr std::int32_t wide_width = 600;

/// Six rows of bytes, one of which is null, and of lists.
std::shared_ptr<arrow::RecordBatch> wide_rows() {
  arrow::FixedSizeBinaryBuilder bytes(arrow::fixed_size_binary(wide_width));
  for (char i = 0; i < 6; ++i) {
    BOOST_TEST_REQUIRE(
        (i == 3 ? bytes.AppendNull() : bytes.Append(std::string(wide_width, static_cast<char>('a' + i)))).ok());
  }
  const auto list = arrow::fixed_size_list(arrow::float32(), 256);
  arrow::FixedSizeListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::FloatBuilder>(), list);
  auto& values = static_cast<arrow::FloatBuilder&>(*lists.value_builder());
  for (int i = 0; i < 6; ++i) {
    BOOST_TEST_REQUIRE(lists.Append().ok());
    for (int j = 0; j < 256; ++j) BOOST_TEST_REQUIRE(values.Append(static_cast<float>(1000 * i + j)).ok());
  }
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("b", bytes.type()), arrow::field("l", list)}), 6,
                                  {bytes.Finish().ValueOrDie(), lists.Finish().ValueOrDie()});
}

BOOST_AUTO_TEST_SUITE(row_windows)

BOOST_AUTO_TEST_CASE(rows_are_taken_in_any_order_with_all_their_columns) {
  const auto rows = mixed_rows();
  RowWindow window(rows->schema(), -1, arrow::default_memory_pool());
  // In pieces, of which one begins within its arrays; the first has no null in some columns.
  BOOST_TEST(window.add(*rows->Slice(4, 2)).ok());
  BOOST_TEST(window.add(*rows->Slice(0, 4)).ok());
  BOOST_TEST(window.rows() == 6);
  const std::vector<std::uint32_t> numbers{5, 0, 2, 2, 4};
  const auto taken = window.take(numbers).ValueOrDie();
  BOOST_TEST(taken->ValidateFull().ok());
  const auto expected = arrow::ConcatenateRecordBatches({rows->Slice(3, 1), rows->Slice(4, 1), rows->Slice(0, 1),
                                                         rows->Slice(0, 1), rows->Slice(2, 1)})
                            .ValueOrDie();
  BOOST_TEST(taken->Equals(*expected));
}

BOOST_AUTO_TEST_CASE(a_window_is_used_again) {
  const auto rows = mixed_rows();
  RowWindow window(rows->schema(), 6, arrow::default_memory_pool());
  BOOST_TEST(window.add(*rows).ok());
  window.clear();
  BOOST_TEST(window.rows() == 0);
  BOOST_TEST(window.add(*rows->Slice(4, 2)).ok());
  const std::vector<std::uint32_t> numbers{1, 0};
  const auto expected = arrow::ConcatenateRecordBatches({rows->Slice(5, 1), rows->Slice(4, 1)}).ValueOrDie();
  BOOST_TEST(window.take(numbers).ValueOrDie()->Equals(*expected));
}

BOOST_AUTO_TEST_CASE(more_rows_than_are_copied_at_a_time) {
  arrow::Int32Builder builder;
  for (int i = 0; i < 1000; ++i) BOOST_TEST_REQUIRE(builder.Append(i).ok());
  const auto rows = arrow::RecordBatch::Make(arrow::schema({arrow::field("v", arrow::int32())}), 1000,
                                             {builder.Finish().ValueOrDie()});
  RowWindow window(rows->schema(), 1000, arrow::default_memory_pool());
  BOOST_TEST(window.add(*rows).ok());
  std::vector<std::uint32_t> numbers(1000);
  std::iota(numbers.rbegin(), numbers.rend(), 0U);
  const auto taken = window.take(numbers).ValueOrDie();
  const auto& values = static_cast<const arrow::Int32Array&>(*taken->column(0));
  for (int i = 0; i < 1000; ++i) BOOST_TEST_REQUIRE(values.Value(i) == 999 - i);
}

BOOST_AUTO_TEST_CASE(lists_and_their_values_may_be_null) {
  for (const std::int32_t size : {2, 256}) {  // Copied, and left where they are.
    const auto list = arrow::fixed_size_list(arrow::float32(), size);
    arrow::FixedSizeListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::FloatBuilder>(), list);
    auto& values = static_cast<arrow::FloatBuilder&>(*lists.value_builder());
    for (int i = 0; i < 6; ++i) {
      if (i == 3) {
        BOOST_TEST_REQUIRE(lists.AppendNull().ok());
        continue;
      }
      BOOST_TEST_REQUIRE(lists.Append().ok());
      BOOST_TEST_REQUIRE((i == 4 ? values.AppendNull() : values.Append(static_cast<float>(i))).ok());
      for (int j = 1; j < size; ++j) BOOST_TEST_REQUIRE(values.Append(static_cast<float>(j)).ok());
    }
    const auto rows =
        arrow::RecordBatch::Make(arrow::schema({arrow::field("l", list)}), 6, {lists.Finish().ValueOrDie()});
    RowWindow window(rows->schema(), 6, arrow::default_memory_pool());
    for (const auto& piece : {rows->Slice(0, 2), rows->Slice(4, 2), rows->Slice(2, 2)}) {
      BOOST_TEST(window.add(*piece).ok());
    }
    const std::vector<std::uint32_t> numbers{5, 2, 1};
    const auto expected =
        arrow::ConcatenateRecordBatches({rows->Slice(3, 1), rows->Slice(4, 1), rows->Slice(1, 1)}).ValueOrDie();
    const auto taken = window.take(numbers).ValueOrDie();
    BOOST_TEST(taken->ValidateFull().ok());
    BOOST_TEST(taken->Equals(*expected));
  }
}

BOOST_AUTO_TEST_CASE(wide_values_stay_where_they_came) {
  const auto rows = wide_rows();
  RowWindow window(rows->schema(), 6, arrow::default_memory_pool());
  BOOST_TEST(window.row_bytes() == wide_width + 4 * 256);
  for (int round = 0; round < 2; ++round) {
    // Pieces that begin within their arrays, and an empty one.
    for (const auto& piece : {rows->Slice(4, 2), rows->Slice(4, 0), rows->Slice(1, 3)}) {
      BOOST_TEST(window.add(*piece).ok());
    }
    const std::vector<std::uint32_t> numbers{1, 4, 0, 4};
    const auto taken = window.take(numbers).ValueOrDie();
    BOOST_TEST(taken->ValidateFull().ok());
    BOOST_TEST(taken->Equals(
        *arrow::ConcatenateRecordBatches({rows->Slice(5, 1), rows->Slice(3, 1), rows->Slice(4, 1), rows->Slice(3, 1)})
             .ValueOrDie()));
    window.clear();
  }
}

BOOST_AUTO_TEST_CASE(values_of_the_widest_column_are_taken_into_a_ring_while_it_has_room) {
  const auto rows = wide_rows();
  Budget budget(1 << 20);
  const auto ring = *SharedRing::make(budget, 4096);
  RowWindow window(rows->schema(), 6, arrow::default_memory_pool(), ring);
  BOOST_TEST(window.row_bytes_in_ring() == 4 * 256);
  BOOST_TEST(window.add(*rows).ok());
  const std::vector<std::uint32_t> numbers{3, 0, 5, 1};
  const auto expected =
      arrow::ConcatenateRecordBatches({rows->Slice(3, 1), rows->Slice(0, 1), rows->Slice(5, 1), rows->Slice(1, 1)})
          .ValueOrDie();
  const auto is_in_ring = [&](const arrow::RecordBatch& taken) {
    const auto& bytes = *taken.column_data(0)->buffers[1];
    BOOST_TEST(!ring->has(bytes.data(), bytes.size()));
    const auto& values = *taken.column_data(1)->child_data[0]->buffers[1];
    return ring->has(values.data(), values.size());
  };
  auto first = window.take(numbers).ValueOrDie();
  const auto second = window.take(numbers).ValueOrDie();
  BOOST_TEST(is_in_ring(*first));
  BOOST_TEST(!is_in_ring(*second));  // The first one fills it.
  BOOST_TEST(first->Equals(*expected));
  BOOST_TEST(second->Equals(*expected));
  first = nullptr;
  BOOST_TEST(is_in_ring(*window.take(numbers).ValueOrDie()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace headway::flow
