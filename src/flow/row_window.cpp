#include "flow/row_window.hpp"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace headway::flow {
namespace {

/// Rows whose columns are copied at a time: they stay in the innermost cache meanwhile.
constexpr std::int64_t block_rows = 64;
constexpr std::int64_t cache_line = 64;
/// A value of so many bytes costs few misses for its size, wherever it lies.
constexpr std::int64_t wide_bytes = 8 * cache_line;

const arrow::DataType* without_extension(const arrow::DataType* type) {
  if (type->id() != arrow::Type::EXTENSION) return type;
  return without_extension(static_cast<const arrow::ExtensionType*>(type)->storage_type().get());
}

bool has_plain_values(const arrow::DataType& type) {
  return type.id() != arrow::Type::DICTIONARY && type.id() != arrow::Type::EXTENSION && type.num_fields() == 0 &&
         type.layout().buffers.size() == 2 && type.id() != arrow::Type::BOOL && type.byte_width() > 0;
}

template <std::int64_t width>
void scatter(const std::uint8_t* from, std::int64_t count, std::uint8_t* to, std::int64_t stride) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * stride, from + i * width, width);
}

void scatter(std::int64_t width, const std::uint8_t* from, std::int64_t count, std::uint8_t* to, std::int64_t stride) {
  switch (width) {
    case 1: return scatter<1>(from, count, to, stride);
    case 2: return scatter<2>(from, count, to, stride);
    case 4: return scatter<4>(from, count, to, stride);
    case 8: return scatter<8>(from, count, to, stride);
    default:
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * stride, from + i * width, static_cast<std::size_t>(width));
      }
  }
}

using RowPlaces = std::array<const std::uint8_t*, block_rows>;

template <std::int64_t width>
void collect(const RowPlaces& rows, std::int64_t at, std::int64_t count, std::uint8_t* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * width, rows[static_cast<std::size_t>(i)] + at, width);
  }
}

void collect(std::int64_t width, const RowPlaces& rows, std::int64_t at, std::int64_t count, std::uint8_t* to) {
  switch (width) {
    case 1: return collect<1>(rows, at, count, to);
    case 2: return collect<2>(rows, at, count, to);
    case 4: return collect<4>(rows, at, count, to);
    case 8: return collect<8>(rows, at, count, to);
    default:
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * width, rows[static_cast<std::size_t>(i)] + at, static_cast<std::size_t>(width));
      }
  }
}

/// Of `count` values from `offset` on, which come behind `before` others. `valid` stays empty while
/// none is null.
void add_validity(const arrow::ArrayData& data, std::int64_t offset, std::int64_t before, std::int64_t count,
                  std::vector<std::uint8_t>& valid) {
  const bool has_nulls = data.GetNullCount() > 0;
  if (valid.empty() && !has_nulls) return;
  valid.resize(static_cast<std::size_t>(before + count), 1);
  if (!has_nulls) return;
  const std::uint8_t* bits = data.buffers[0]->data();
  for (std::int64_t i = 0; i < count; ++i) {
    if (!arrow::bit_util::GetBit(bits, offset + i)) valid[static_cast<std::size_t>(before + i)] = 0;
  }
}

/// Of rows that have so many values each; null: none is null.
arrow::Result<std::shared_ptr<arrow::Buffer>> validity_of(const std::vector<std::uint8_t>& valid, std::int64_t values,
                                                          std::span<const std::uint32_t> numbers,
                                                          arrow::MemoryPool* pool) {
  if (valid.empty()) return nullptr;
  const auto rows = static_cast<std::int64_t>(numbers.size());
  ARROW_ASSIGN_OR_RAISE(auto bits, arrow::AllocateEmptyBitmap(rows * values, pool));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::uint8_t* const of_row = valid.data() + numbers[static_cast<std::size_t>(i)] * values;
    for (std::int64_t j = 0; j < values; ++j) {
      if (of_row[j] != 0) arrow::bit_util::SetBit(bits->mutable_data(), i * values + j);
    }
  }
  return bits;
}

}  // namespace

RowWindow::RowWindow(std::shared_ptr<arrow::Schema> schema, std::int64_t rows_expected, arrow::MemoryPool* pool,
                     std::shared_ptr<SharedRing> ring)
    : schema_(std::move(schema)), pool_(pool), ring_(std::move(ring)) {
  for (int i = 0; i < schema_->num_fields(); ++i) {
    const arrow::DataType& type = *without_extension(schema_->field(i)->type().get());
    Fixed column;
    column.column = i;
    if (type.id() == arrow::Type::BOOL) {
      column.is_bits = true;
      column.width = 1;
    } else if (has_plain_values(type)) {
      column.width = type.byte_width();
    } else if (type.id() == arrow::Type::FIXED_SIZE_LIST && has_plain_values(*type.field(0)->type())) {
      column.list_size = static_cast<const arrow::FixedSizeListType&>(type).list_size();
      column.child = type.field(0)->type();
      column.width = column.child->byte_width() * column.list_size;
    }
    if (column.width == 0) {
      others_.push_back({i, {}, nullptr});
      continue;
    }
    fixed_.push_back(std::move(column));
  }
  // Wide values first: they are aligned then.
  std::stable_sort(fixed_.begin(), fixed_.end(), [](const Fixed& a, const Fixed& b) { return a.width > b.width; });
  for (Fixed& column : fixed_) {
    row_bytes_ += column.width;
    column.is_wide = column.width >= wide_bytes;
    if (column.is_wide) continue;
    column.at = stride_;
    stride_ += column.width;
  }
  stride_ = arrow::bit_util::RoundUpToMultipleOf8(stride_);
  if (rows_expected > 0) (void)reserve(rows_expected);
}

arrow::Status RowWindow::reserve(std::int64_t rows) {
  if (rows_memory_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(rows_memory_, arrow::AllocateResizableBuffer(0, pool_));
  }
  if (rows_memory_->capacity() >= rows * stride_) return arrow::Status::OK();
  return rows_memory_->Reserve(std::max(rows * stride_, 2 * rows_memory_->capacity()));
}

arrow::Status RowWindow::add(const arrow::RecordBatch& batch) {
  ARROW_RETURN_NOT_OK(reserve(rows_ + batch.num_rows()));
  for (Fixed& column : fixed_) {
    const arrow::ArrayData& data = *batch.column_data(column.column);
    add_validity(data, data.offset, rows_, data.length, column.valid);
    if (column.list_size > 0) {
      const arrow::ArrayData& values = *data.child_data[0];
      add_validity(values, values.offset + data.offset * column.list_size, rows_ * column.list_size,
                   data.length * column.list_size, column.valid_values);
    }
    if (column.is_wide) keep(column, batch.column_data(column.column));
  }
  if (stride_ > 0) place(batch);
  for (Other& other : others_) other.pieces.push_back(batch.column(other.column));
  rows_ += batch.num_rows();
  return arrow::Status::OK();
}

void RowWindow::place(const arrow::RecordBatch& batch) {
  std::uint8_t* to = rows_memory_->mutable_data() + rows_ * stride_;
  for (std::int64_t first = 0; first < batch.num_rows(); first += block_rows) {
    const std::int64_t count = std::min(block_rows, batch.num_rows() - first);
    for (const Fixed& column : fixed_) {
      if (column.is_wide) continue;
      const arrow::ArrayData& data = *batch.column_data(column.column);
      place_values(column, data, first, count, to);
    }
    to += count * stride_;
  }
}

const std::uint8_t* RowWindow::values_of(const Fixed& column, const arrow::ArrayData& data) {
  if (column.list_size < 0) return data.buffers[1]->data() + data.offset * column.width;
  const arrow::ArrayData& values = *data.child_data[0];
  return values.buffers[1]->data() + values.offset * column.child->byte_width() + data.offset * column.width;
}

void RowWindow::keep(Fixed& column, const std::shared_ptr<arrow::ArrayData>& data) {
  if (data->length == 0) return;
  const std::uint8_t* const values = values_of(column, *data);
  for (std::int64_t i = 0; i < data->length; ++i) column.places.push_back(values + i * column.width);
  column.pieces.push_back(data);
}

void RowWindow::place_values(const Fixed& column, const arrow::ArrayData& data, std::int64_t first, std::int64_t count,
                             std::uint8_t* to) const {
  if (column.is_bits) {
    const std::uint8_t* bits = data.buffers[1]->data();
    for (std::int64_t i = 0; i < count; ++i) {
      to[i * stride_ + column.at] = arrow::bit_util::GetBit(bits, data.offset + first + i) ? 1 : 0;
    }
    return;
  }
  scatter(column.width, values_of(column, data) + first * column.width, count, to + column.at, stride_);
}

void RowWindow::clear() {
  rows_ = 0;
  for (Fixed& column : fixed_) {
    column.valid.clear();
    column.valid_values.clear();
    column.places.clear();
    column.pieces.clear();
  }
  for (Other& other : others_) {
    other.pieces.clear();
    other.whole = nullptr;
  }
}

arrow::Result<std::shared_ptr<arrow::Buffer>> RowWindow::memory_for(const Fixed& column, std::int64_t rows) const {
  if (&column == &fixed_.front() && column.is_wide && ring_ != nullptr) {
    if (auto in_ring = ring_->append(rows * column.width)) return in_ring;
  }
  return arrow::AllocateBuffer(rows * column.width, pool_);
}

/// The values of each column of fixed width, bits as bytes.
arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> RowWindow::gather(
    std::span<const std::uint32_t> numbers) const {
  const auto rows = static_cast<std::int64_t>(numbers.size());
  std::vector<std::shared_ptr<arrow::Buffer>> made;
  for (const Fixed& column : fixed_) {
    ARROW_ASSIGN_OR_RAISE(made.emplace_back(), memory_for(column, rows));
  }
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (!fixed_[i].is_wide) continue;
    const auto width = static_cast<std::size_t>(fixed_[i].width);
    std::uint8_t* to = made[i]->mutable_data();
    for (const std::uint32_t number : numbers) {
      std::memcpy(to, fixed_[i].places[number], width);
      to += width;
    }
  }
  if (rows_memory_ == nullptr || stride_ == 0) return made;
  const std::uint8_t* const memory = rows_memory_->data();
  const auto place_of = [&](std::int64_t row) { return memory + numbers[static_cast<std::size_t>(row)] * stride_; };
  RowPlaces places{};
  for (std::int64_t first = 0; first < rows; first += block_rows) {
    const std::int64_t count = std::min(block_rows, rows - first);
    for (std::int64_t i = 0; i < count; ++i) {
      places[static_cast<std::size_t>(i)] = place_of(first + i);
      const std::int64_t ahead = first + i + block_rows;
      if (ahead >= rows) continue;
      for (std::int64_t line = 0; line < stride_; line += cache_line) __builtin_prefetch(place_of(ahead) + line);
    }
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      const Fixed& column = fixed_[i];
      if (column.is_wide) continue;
      collect(column.width, places, column.at, count, made[i]->mutable_data() + first * column.width);
    }
  }
  return made;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> RowWindow::fixed_data(const Fixed& column, std::int64_t rows,
                                                                       std::shared_ptr<arrow::Buffer> values,
                                                                       std::span<const std::uint32_t> numbers) const {
  ARROW_ASSIGN_OR_RAISE(auto validity, validity_of(column.valid, 1, numbers, pool_));
  if (column.is_bits) {
    ARROW_ASSIGN_OR_RAISE(auto bits, arrow::AllocateEmptyBitmap(rows, pool_));
    for (std::int64_t i = 0; i < rows; ++i) {
      if (values->data()[i] != 0) arrow::bit_util::SetBit(bits->mutable_data(), i);
    }
    values = std::move(bits);
  }
  const auto& type = schema_->field(column.column)->type();
  if (column.list_size < 0) return arrow::ArrayData::Make(type, rows, {std::move(validity), std::move(values)});
  ARROW_ASSIGN_OR_RAISE(auto within, validity_of(column.valid_values, column.list_size, numbers, pool_));
  auto child = arrow::ArrayData::Make(column.child, rows * column.list_size, {std::move(within), std::move(values)});
  return arrow::ArrayData::Make(type, rows, {std::move(validity)}, {std::move(child)});
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RowWindow::take(std::span<const std::uint32_t> numbers) const {
  const auto rows = static_cast<std::int64_t>(numbers.size());
  std::vector<std::shared_ptr<arrow::ArrayData>> columns(static_cast<std::size_t>(schema_->num_fields()));
  ARROW_ASSIGN_OR_RAISE(auto values, gather(numbers));
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(columns[static_cast<std::size_t>(fixed_[i].column)],
                          fixed_data(fixed_[i], rows, std::move(values[i]), numbers));
  }
  const auto indices = std::make_shared<arrow::UInt32Array>(rows, arrow::Buffer::Wrap(numbers.data(), numbers.size()));
  for (const Other& other : others_) {
    if (other.whole == nullptr) {
      ARROW_ASSIGN_OR_RAISE(other.whole, arrow::Concatenate(other.pieces, pool_));
    }
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken, arrow::compute::Take(other.whole, arrow::Datum(indices),
                                                                         arrow::compute::TakeOptions::NoBoundsCheck()));
    columns[static_cast<std::size_t>(other.column)] = taken.make_array()->data();
  }
  return arrow::RecordBatch::Make(schema_, rows, std::move(columns));
}

}  // namespace headway::flow
