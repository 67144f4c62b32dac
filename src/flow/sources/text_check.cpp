#include "flow/sources/text_check.hpp"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/util/utf8.h>

#include <algorithm>
#include <mutex>

namespace headway::flow {
namespace {

bool is_text(const arrow::Array& values);

/// Of each value for itself.
template <class Text>
bool is_each_text(const Text& values) {
  for (std::int64_t row = 0; row < values.length(); ++row) {
    if (values.IsValid(row) && !arrow::util::ValidateUTF8(values.GetView(row))) return false;
  }
  return true;
}

/// All bytes at once, if no value begins within a character.
template <class Text>
bool is_text_together(const Text& values) {
  if (values.length() == 0 || values.value_data() == nullptr) return true;
  const std::uint8_t* const bytes = values.value_data()->data();
  const auto begin = static_cast<std::int64_t>(values.value_offset(0));
  const auto end = static_cast<std::int64_t>(values.value_offset(values.length()));
  if (!arrow::util::ValidateUTF8(bytes + begin, end - begin)) return false;
  const auto* const offsets = values.raw_value_offsets();
  constexpr std::uint8_t kind = 0xC0;
  constexpr std::uint8_t within = 0x80;
  return std::all_of(offsets, offsets + values.length(),
                     [&](auto offset) { return offset == end || (bytes[offset] & kind) != within; });
}

/// Values that no row has do not count, here and below.
template <class List>
bool is_text_of_each_list(const List& lists) {
  for (std::int64_t row = 0; row < lists.length(); ++row) {
    if (lists.IsValid(row) && !is_text(*lists.value_slice(row))) return false;
  }
  return true;
}

template <class List>
bool is_text_of_lists(const List& lists) {
  const auto begin = static_cast<std::int64_t>(lists.value_offset(0));
  const auto end = static_cast<std::int64_t>(lists.value_offset(lists.length()));
  if (is_text(*lists.values()->Slice(begin, end - begin))) return true;
  return lists.null_count() > 0 && is_text_of_each_list(lists);
}

/// Rows of it may share values, or leave some out.
template <class ListView>
bool is_text_of_list_views(const ListView& lists) {
  return is_text(*lists.values()) || is_text_of_each_list(lists);
}

bool is_text_of_fields(const arrow::StructArray& values) {
  for (int i = 0; i < values.num_fields(); ++i) {
    if (is_text(*values.field(i))) continue;
    const auto of_rows = values.GetFlattenedField(i);
    if (values.null_count() == 0 || !of_rows.ok() || !is_text(**of_rows)) return false;
  }
  return true;
}

bool is_text_of_dictionary(const arrow::DictionaryArray& values) {
  if (is_text(*values.dictionary())) return true;
  for (std::int64_t row = 0; row < values.length(); ++row) {
    if (values.IsValid(row) && !is_text(*values.dictionary()->Slice(values.GetValueIndex(row), 1))) return false;
  }
  return true;
}

bool is_text(const arrow::Array& values) {
  switch (values.type_id()) {
    case arrow::Type::STRING: {
      const auto& text = static_cast<const arrow::StringArray&>(values);
      return is_text_together(text) || is_each_text(text);
    }
    case arrow::Type::LARGE_STRING: {
      const auto& text = static_cast<const arrow::LargeStringArray&>(values);
      return is_text_together(text) || is_each_text(text);
    }
    case arrow::Type::STRING_VIEW: return is_each_text(static_cast<const arrow::StringViewArray&>(values));
    case arrow::Type::LIST:
    case arrow::Type::MAP: return is_text_of_lists(static_cast<const arrow::ListArray&>(values));
    case arrow::Type::LARGE_LIST: return is_text_of_lists(static_cast<const arrow::LargeListArray&>(values));
    case arrow::Type::LIST_VIEW: return is_text_of_list_views(static_cast<const arrow::ListViewArray&>(values));
    case arrow::Type::LARGE_LIST_VIEW:
      return is_text_of_list_views(static_cast<const arrow::LargeListViewArray&>(values));
    case arrow::Type::FIXED_SIZE_LIST: return is_text_of_lists(static_cast<const arrow::FixedSizeListArray&>(values));
    case arrow::Type::STRUCT: return is_text_of_fields(static_cast<const arrow::StructArray&>(values));
    case arrow::Type::DICTIONARY: return is_text_of_dictionary(static_cast<const arrow::DictionaryArray&>(values));
    case arrow::Type::EXTENSION: return is_text(*static_cast<const arrow::ExtensionArray&>(values).storage());
    default: return true;
  }
}

}  // namespace

std::optional<std::int64_t> row_without_utf8(const arrow::Array& values) {
  static std::once_flag initialized;
  std::call_once(initialized, arrow::util::InitializeUTF8);
  if (is_text(values)) return std::nullopt;
  std::int64_t begin = 0;
  for (std::int64_t length = values.length(); length > 1;) {
    const std::int64_t half = length / 2;
    const bool first = is_text(*values.Slice(begin, half));
    begin += first ? half : 0;
    length = first ? length - half : half;
  }
  return begin;
}

}  // namespace headway::flow
