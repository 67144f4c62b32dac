#include "flow/sources/text_check.hpp"

#include <arrow/array.h>
#include <arrow/buffer_builder.h>
#include <arrow/builder.h>
#include <arrow/type.h>

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::flow {
namespace {

using Texts = std::vector<std::optional<std::string_view>>;

template <class Builder = arrow::StringBuilder>
std::shared_ptr<arrow::Array> texts(const Texts& values) {
  Builder builder;
  for (const auto& value : values) BOOST_TEST((value ? builder.Append(*value) : builder.AppendNull()).ok());
  return builder.Finish().ValueOrDie();
}

/// Two values in each list.
std::shared_ptr<arrow::Array> in_pairs(const std::shared_ptr<arrow::Array>& values) {
  arrow::Int32Builder offsets;
  for (std::int64_t i = 0; i <= values->length(); i += 2) BOOST_TEST(offsets.Append(static_cast<int>(i)).ok());
  return arrow::ListArray::FromArrays(*offsets.Finish().ValueOrDie(), *values).ValueOrDie();
}

constexpr std::string_view bad = "caf\xE9";

}  // namespace

BOOST_AUTO_TEST_SUITE(text_of_files)

BOOST_AUTO_TEST_CASE(finds_the_first_bad_row) {
  BOOST_TEST(!row_without_utf8(*texts({"a", "caf\u00E9", std::nullopt, ""})));
  BOOST_TEST((row_without_utf8(*texts({"a", "b", bad, "c", bad})) == 2));
  BOOST_TEST((row_without_utf8(*texts<arrow::LargeStringBuilder>({bad, "b"})) == 0));
  BOOST_TEST((row_without_utf8(*texts<arrow::StringViewBuilder>({"a", "longer than twelve bytes \xE9"})) == 1));
  BOOST_TEST(!row_without_utf8(*texts<arrow::BinaryBuilder>({bad})));
  BOOST_TEST(!row_without_utf8(*texts({})));
}

BOOST_AUTO_TEST_CASE(a_character_is_not_cut_into_two_values) {
  BOOST_TEST((row_without_utf8(*texts({"a", "\xC3", "\xA9"})) == 1));
  BOOST_TEST(!row_without_utf8(*texts({"\xC3\xA9", "", "\xC3\xA9", ""})));
}

BOOST_AUTO_TEST_CASE(looks_at_the_rows_of_a_slice) {
  const auto values = texts({bad, "b", "caf\u00E9", bad});
  BOOST_TEST(!row_without_utf8(*values->Slice(1, 2)));
  BOOST_TEST((row_without_utf8(*values->Slice(1)) == 2));
}

BOOST_AUTO_TEST_CASE(values_that_no_row_has_do_not_count) {
  const auto values = texts({"a", bad, "c", bad});
  const auto validity = [](std::string_view rows) {
    arrow::TypedBufferBuilder<bool> bits;
    for (const char row : rows) BOOST_TEST(bits.Append(row == '1').ok());
    return bits.Finish().ValueOrDie();
  };
  const auto pairs = in_pairs(values)->data()->Copy();
  pairs->buffers[0] = validity("01");
  pairs->null_count = 1;
  BOOST_TEST((row_without_utf8(*arrow::MakeArray(pairs)) == 1));
  pairs->buffers[0] = validity("00");
  pairs->null_count = 2;
  BOOST_TEST(!row_without_utf8(*arrow::MakeArray(pairs)));
  const auto fields = [&](std::string_view rows) {
    const auto made = arrow::StructArray::Make({values}, std::vector<std::string>{"text"}, validity(rows));
    return row_without_utf8(**made);
  };
  BOOST_TEST((fields("1011") == 3));
  BOOST_TEST(!fields("1010"));
}

BOOST_AUTO_TEST_CASE(rows_of_a_list_view_may_share_values) {
  const auto values = texts({"a", bad, "c"});
  const auto view = [&](int first, int second) {
    arrow::Int32Builder offsets, sizes;
    for (const int offset : {first, second}) BOOST_TEST((offsets.Append(offset).ok() && sizes.Append(1).ok()));
    return arrow::ListViewArray::FromArrays(*offsets.Finish().ValueOrDie(), *sizes.Finish().ValueOrDie(), *values)
        .ValueOrDie();
  };
  BOOST_TEST((row_without_utf8(*view(2, 1)) == 1));
  BOOST_TEST((row_without_utf8(*view(1, 1)) == 0));
  BOOST_TEST(!row_without_utf8(*view(2, 0)));
}

BOOST_AUTO_TEST_CASE(bytes_of_nulls_do_not_count) {
  const auto values = std::static_pointer_cast<arrow::StringArray>(texts({"a", bad, "c"}));
  arrow::TypedBufferBuilder<bool> valid;
  for (const bool is_valid : {true, false, true}) BOOST_TEST(valid.Append(is_valid).ok());
  const arrow::StringArray masked(3, values->value_offsets(), values->value_data(), valid.Finish().ValueOrDie());
  BOOST_TEST(!row_without_utf8(masked));
}

BOOST_AUTO_TEST_CASE(goes_into_nested_values) {
  const auto lists = in_pairs(texts({"a", "b", "c", "d", "e", bad}));
  BOOST_TEST((row_without_utf8(*lists) == 2));
  BOOST_TEST(!row_without_utf8(*lists->Slice(0, 2)));
  const auto fields = arrow::StructArray::Make({texts({"a", "b", "c"}), lists}, std::vector<std::string>{"x", "y"});
  BOOST_TEST((row_without_utf8(**fields) == 2));
  const auto sized = arrow::FixedSizeListArray::FromArrays(texts({"a", "b", bad, "d"}), 2);
  BOOST_TEST((row_without_utf8(**sized) == 1));
}

BOOST_AUTO_TEST_CASE(of_a_dictionary_the_values_of_rows_count) {
  arrow::Int32Builder indices;
  BOOST_TEST(indices.AppendValues({0, 0, 1, 0}).ok());
  const auto rows = indices.Finish().ValueOrDie();
  const auto type = arrow::dictionary(arrow::int32(), arrow::utf8());
  BOOST_TEST((row_without_utf8(**arrow::DictionaryArray::FromArrays(type, rows, texts({"a", bad}))) == 2));
  BOOST_TEST(!row_without_utf8(**arrow::DictionaryArray::FromArrays(type, rows, texts({"a", "b", bad}))));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
