#include "flow/slot_batch.hpp"

#include <arrow/api.h>
#include <arrow/json/from_string.h>

#include <boost/test/unit_test.hpp>

namespace headway::flow {
namespace {

std::shared_ptr<arrow::Array> array_of(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

/// Each type that slots treat in another way, with nulls. Five rows.
std::shared_ptr<arrow::RecordBatch> every_type() {
  const auto point = arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("y", arrow::utf8())});
  const std::vector<std::pair<std::shared_ptr<arrow::DataType>, std::string>> columns{
      {arrow::int64(), "[1, 2, 3, 4, 5]"},
      {arrow::float32(), "[1.5, null, 3.5, 4.5, null]"},
      {arrow::boolean(), "[true, false, null, true, true]"},
      {arrow::utf8(), R"(["a", "", null, "four", "fifth"])"},
      {arrow::large_binary(), R"(["ab", "c", "d", null, ""])"},
      {arrow::list(arrow::int16()), "[[1, 2], [], null, [3], [4, null, 6]]"},
      {arrow::fixed_size_list(arrow::float64(), 2), "[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]"},
      {point, R"([{"x": 1, "y": "p"}, null, {"x": null, "y": "q"}, {"x": 4, "y": null}, {"x": 5, "y": "r"}])"},
      {arrow::map(arrow::utf8(), arrow::int8()), R"([[["k", 1]], [], null, [["l", 2], ["m", 3]], []])"},
      {arrow::null(), "[null, null, null, null, null]"},
      {arrow::fixed_size_binary(3), R"(["abc", "def", null, "ghi", "jkl"])"},
  };
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [type, json] : columns) {
    fields.push_back(arrow::field("c" + std::to_string(fields.size()), type));
    arrays.push_back(array_of(type, json));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), 5, arrays);
}

/// Through a slot and back.
std::shared_ptr<arrow::RecordBatch> through_slot(const std::vector<std::shared_ptr<arrow::RecordBatch>>& pieces) {
  const auto schema = pieces.front()->schema();
  const SlotBatch batch = SlotBatch::plan(*schema, pieces).ValueOrDie();
  // What a slot held before must not show.
  std::shared_ptr<arrow::Buffer> slot = arrow::AllocateBuffer(static_cast<std::int64_t>(batch.size())).ValueOrDie();
  std::fill_n(slot->mutable_data(), slot->size(), std::uint8_t{0xff});
  batch.write(std::as_writable_bytes(std::span(slot->mutable_data(), static_cast<std::size_t>(slot->size()))), 1);
  auto read = read_slot(schema, slot);
  BOOST_REQUIRE_MESSAGE(read.ok(), read.status().ToString());
  BOOST_TEST((*read)->ValidateFull().ok());
  return *read;
}

BOOST_AUTO_TEST_SUITE(slot_batches)

BOOST_AUTO_TEST_CASE(a_batch_of_any_type_is_the_same_after_a_slot) {
  const auto batch = every_type();
  BOOST_TEST(through_slot({batch})->Equals(*batch));
}

BOOST_AUTO_TEST_CASE(pieces_are_concatenated_in_order) {
  const auto batch = every_type();
  const auto joined = through_slot({batch->Slice(1, 2), batch->Slice(0, 0), batch->Slice(3, 2), batch->Slice(0, 1)});
  const auto expected =
      arrow::ConcatenateRecordBatches({batch->Slice(1, 2), batch->Slice(3, 2), batch->Slice(0, 1)}).ValueOrDie();
  BOOST_TEST(joined->Equals(*expected));
}

BOOST_AUTO_TEST_CASE(a_batch_without_rows_has_its_columns) {
  const auto batch = every_type()->Slice(0, 0);
  BOOST_TEST(through_slot({batch})->Equals(*batch));
}

BOOST_AUTO_TEST_CASE(a_type_without_a_place_in_slots_names_its_column) {
  const auto type = arrow::dense_union({arrow::field("a", arrow::int8())});
  const auto schema = arrow::schema({arrow::field("either", type)});
  const auto planned = SlotBatch::plan(*schema, {});
  BOOST_REQUIRE(!planned.ok());
  BOOST_TEST(planned.status().message().find("either") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_slots_do_not_have_gets_another_type) {
  const auto schema = arrow::schema({
      arrow::field("kept", arrow::int8()),
      arrow::field("word", arrow::dictionary(arrow::int8(), arrow::utf8())),
      arrow::field("words", arrow::list(arrow::utf8_view())),
  });
  const auto changed = slot_schema(schema);
  BOOST_TEST(changed->field(0)->Equals(schema->field(0)));
  BOOST_TEST(changed->field(1)->type()->Equals(arrow::utf8()));
  BOOST_TEST(changed->field(2)->type()->Equals(arrow::list(arrow::utf8())));
  BOOST_TEST(slot_schema(changed) == changed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace headway::flow
