#include "flow/bytes_of_rows.hpp"

#include <arrow/array/data.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>

#include <algorithm>
#include <ranges>

namespace headway::flow {
namespace {

/// Of values whose bytes lie elsewhere: views, unions.
constexpr std::int64_t reference_bytes = 16;

std::int64_t bytes_of_values(const arrow::DataType& type, const arrow::ArrayData& data, std::int64_t begin,
                             std::int64_t count);

template <class Offset>
std::int64_t bytes_of_text(const arrow::ArrayData& data, std::int64_t begin, std::int64_t count) {
  const auto* const offsets = data.GetValues<Offset>(1) + begin;
  return static_cast<std::int64_t>(offsets[count] - offsets[0]) + count * std::int64_t{sizeof(Offset)};
}

template <class Offset>
std::int64_t bytes_of_lists(const arrow::DataType& type, const arrow::ArrayData& data, std::int64_t begin,
                            std::int64_t count) {
  const auto* const offsets = data.GetValues<Offset>(1) + begin;
  return bytes_of_values(*type.field(0)->type(), *data.child_data[0], offsets[0], offsets[count] - offsets[0]) +
         count * std::int64_t{sizeof(Offset)};
}

/// Of the values [begin, begin + count) of an array.
std::int64_t bytes_of_values(const arrow::DataType& type, const arrow::ArrayData& data, std::int64_t begin,
                             std::int64_t count) {
  if (count == 0) return 0;
  switch (type.id()) {
    case arrow::Type::EXTENSION:
      return bytes_of_values(*static_cast<const arrow::ExtensionType&>(type).storage_type(), data, begin, count);
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return bytes_of_text<std::int32_t>(data, begin, count);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: return bytes_of_text<std::int64_t>(data, begin, count);
    case arrow::Type::LIST:
    case arrow::Type::MAP: return bytes_of_lists<std::int32_t>(type, data, begin, count);
    case arrow::Type::LARGE_LIST: return bytes_of_lists<std::int64_t>(type, data, begin, count);
    case arrow::Type::FIXED_SIZE_LIST: {
      const std::int64_t size = static_cast<const arrow::FixedSizeListType&>(type).list_size();
      const auto& child = *type.field(0)->type();
      return bytes_of_values(child, *data.child_data[0], (data.offset + begin) * size, count * size);
    }
    case arrow::Type::STRUCT: {
      std::int64_t bytes = 0;
      for (int i = 0; i < type.num_fields(); ++i) {
        const auto& child = *data.child_data[static_cast<std::size_t>(i)];
        bytes += bytes_of_values(*type.field(i)->type(), child, data.offset + begin, count);
      }
      return bytes;
    }
    default: return count * (type.bit_width() < 0 ? reference_bytes : std::max<std::int64_t>(type.bit_width() / 8, 1));
  }
}

}  // namespace

std::int64_t bytes_of_rows(const arrow::RecordBatch& batch, std::int64_t rows) {
  std::int64_t bytes = 0;
  for (int i = 0; i < batch.num_columns(); ++i) {
    bytes += bytes_of_values(*batch.schema()->field(i)->type(), *batch.column_data(i), 0, rows);
  }
  return bytes;
}

std::int64_t rows_of_bytes(const arrow::RecordBatch& batch, std::int64_t bytes) {
  if (bytes_of_rows(batch, batch.num_rows()) <= bytes) return batch.num_rows();
  const auto counts = std::views::iota(std::int64_t{1}, batch.num_rows());
  const auto fits = [&](std::int64_t rows) { return bytes_of_rows(batch, rows) <= bytes; };
  return static_cast<std::int64_t>(std::ranges::partition_point(counts, fits) - counts.begin());
}

}  // namespace headway::flow
