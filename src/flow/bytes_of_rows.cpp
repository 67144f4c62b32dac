#include "flow/bytes_of_rows.hpp"

#include "flow/tensor_rows.hpp"

#include <arrow/array/array_dict.h>
#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>
#include <ranges>

namespace headway::flow {
namespace {

/// Of each column in each row, beside its values.
constexpr std::int64_t column_bytes = 8;
/// Of values whose bytes lie elsewhere: views, unions.
constexpr std::int64_t reference_bytes = 16;
/// Of numbers: later rows may make them as wide. In arrays bytes stay bytes: those are images. See
/// `keeps_bytes_in_arrays`.
constexpr std::int64_t number_bytes = 8;
constexpr std::int64_t decimal_bytes = 16;  ///< However many digits later rows have.

/// Of the values [begin, begin + count) of an array, which are in a list or not.
std::int64_t bytes_of_values(const arrow::DataType& type, const arrow::ArrayData& data, std::int64_t begin,
                             std::int64_t count, bool in_list);

bool is_null(const arrow::ArrayData& data, std::int64_t at) {
  return data.buffers[0] != nullptr && !arrow::bit_util::GetBit(data.buffers[0]->data(), data.offset + at);
}

std::int64_t without_nulls(const arrow::ArrayData& data, std::int64_t begin, std::int64_t count) {
  if (data.buffers[0] == nullptr) return count;
  return arrow::internal::CountSetBits(data.buffers[0]->data(), data.offset + begin, count);
}

template <class Offset>
std::int64_t bytes_of_text(const arrow::ArrayData& data, std::int64_t begin, std::int64_t count) {
  const auto* const offsets = data.GetValues<Offset>(1) + begin;
  return static_cast<std::int64_t>(offsets[count] - offsets[0]);
}

template <class Offset>
std::int64_t bytes_of_lists(const arrow::DataType& type, const arrow::ArrayData& data, std::int64_t begin,
                            std::int64_t count) {
  const auto* const offsets = data.GetValues<Offset>(1) + begin;
  return bytes_of_values(*type.field(0)->type(), *data.child_data[0], offsets[0], offsets[count] - offsets[0], true);
}

std::int64_t bytes_of_fixed_lists(const arrow::FixedSizeListType& type, const arrow::ArrayData& data,
                                  std::int64_t begin, std::int64_t count) {
  const std::int64_t size = type.list_size();
  const auto of = [&](std::int64_t first, std::int64_t lists) {
    return bytes_of_values(*type.value_type(), *data.child_data[0], (data.offset + first) * size, lists * size, true);
  };
  if (without_nulls(data, begin, count) == count) return of(begin, count);
  std::int64_t bytes = 0;
  for (std::int64_t at = begin; at < begin + count; ++at) bytes += is_null(data, at) ? 0 : of(at, 1);
  return bytes;
}

std::int64_t bytes_of_fields(const arrow::DataType& type, const arrow::ArrayData& data, int fields, std::int64_t begin,
                             std::int64_t count, bool in_list) {
  std::int64_t bytes = 0;
  for (int i = 0; i < fields; ++i) {
    const auto& child = *data.child_data[static_cast<std::size_t>(i)];
    bytes += bytes_of_values(*type.field(i)->type(), child, data.offset + begin, count, in_list);
  }
  return bytes;
}

/// As many as the values have that the categories stand for: later rows may be these.
std::int64_t bytes_of_categories(const arrow::DictionaryType& type, const arrow::ArrayData& data, std::int64_t begin,
                                 std::int64_t count, bool in_list) {
  const arrow::ArrayData& dictionary = *data.dictionary;
  const auto indices = arrow::MakeArray(data.Copy());
  const auto& rows = static_cast<const arrow::DictionaryArray&>(*indices);
  std::int64_t bytes = 0;
  for (std::int64_t at = begin; at < begin + count; ++at) {
    if (!is_null(data, at))
      bytes += bytes_of_values(*type.value_type(), dictionary, rows.GetValueIndex(at), 1, in_list);
  }
  return bytes;
}

std::int64_t bytes_of_values(const arrow::DataType& type, const arrow::ArrayData& data, std::int64_t begin,
                             std::int64_t count, bool in_list) {
  if (count == 0) return 0;
  switch (type.id()) {
    case arrow::Type::NA: return 0;
    case arrow::Type::EXTENSION: {
      const arrow::DataType& storage = *static_cast<const arrow::ExtensionType&>(type).storage_type();
      // Of tensors that have shapes, these come behind the values.
      if (is_variable_tensor(type)) return bytes_of_fields(storage, data, 1, begin, count, in_list);
      return bytes_of_values(storage, data, begin, count, in_list);
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return bytes_of_text<std::int32_t>(data, begin, count);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: return bytes_of_text<std::int64_t>(data, begin, count);
    case arrow::Type::LIST:
    case arrow::Type::MAP: return bytes_of_lists<std::int32_t>(type, data, begin, count);
    case arrow::Type::LARGE_LIST: return bytes_of_lists<std::int64_t>(type, data, begin, count);
    case arrow::Type::FIXED_SIZE_LIST:
      return bytes_of_fixed_lists(static_cast<const arrow::FixedSizeListType&>(type), data, begin, count);
    case arrow::Type::DICTIONARY:
      return bytes_of_categories(static_cast<const arrow::DictionaryType&>(type), data, begin, count, in_list);
    case arrow::Type::STRUCT: return bytes_of_fields(type, data, type.num_fields(), begin, count, in_list);
    default: break;
  }
  if (type.bit_width() < 0) return count * reference_bytes;
  const bool stays = in_list && type.bit_width() == 8;
  const std::int64_t width = std::max(type.bit_width() / 8, 1);
  const std::int64_t wide = arrow::is_decimal(type.id()) ? decimal_bytes : width;
  const std::int64_t each = arrow::is_numeric(type.id()) && !stays ? number_bytes : wide;
  return without_nulls(data, begin, count) * each;
}

}  // namespace

std::int64_t bytes_of_rows(const arrow::RecordBatch& batch, std::int64_t rows) {
  std::int64_t bytes = rows * batch.num_columns() * column_bytes;
  for (int i = 0; i < batch.num_columns(); ++i) {
    bytes += bytes_of_values(*batch.schema()->field(i)->type(), *batch.column_data(i), 0, rows, false);
  }
  return bytes;
}

RowsAndBytes rows_within(const arrow::RecordBatch& batch, std::int64_t most) {
  const std::int64_t all = bytes_of_rows(batch, batch.num_rows());
  if (all <= most) return {batch.num_rows(), all};
  const auto counts = std::views::iota(std::int64_t{1}, batch.num_rows());
  const auto fits = [&](std::int64_t rows) { return bytes_of_rows(batch, rows) <= most; };
  const auto rows = static_cast<std::int64_t>(std::ranges::partition_point(counts, fits) - counts.begin());
  return {rows, bytes_of_rows(batch, rows)};
}

}  // namespace headway::flow
