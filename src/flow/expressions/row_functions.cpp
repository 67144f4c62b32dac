#include "flow/expressions/row_functions.hpp"

#include "data/philox.hpp"

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/buffer.h>

#include <array>
#include <cstdio>

namespace headway::flow {
namespace {

/// What rows' values are for, beside the purposes that data::Purpose has.
constexpr std::uint32_t random_purpose = 0x72616e64;
constexpr std::uint32_t uuid_purpose = 0x75756964;

/// 128 random bits for each row.
class RowBits {
 public:
  RowBits(std::uint64_t key, std::uint32_t purpose, const RowPlace& place)
      : key_(key), purpose_(purpose), place_(place) {}

  std::array<std::uint64_t, 2> operator[](std::int64_t row) const {
    const auto bits =
        data::philox({static_cast<std::uint32_t>(place_.first_row + row), static_cast<std::uint32_t>(place_.epoch),
                      static_cast<std::uint32_t>(place_.unit), purpose_},
                     key_);
    return {std::uint64_t{bits[0]} << 32U | bits[1], std::uint64_t{bits[2]} << 32U | bits[3]};
  }

 private:
  std::uint64_t key_;
  std::uint32_t purpose_;
  const RowPlace& place_;
};

/// An odd number, so that no two streams have one key.
constexpr std::uint64_t stream_step = 0x9e3779b97f4a7c15U;

template <class ArrayType, class Value, class Make>
arrow::Result<arrow::Datum> make_numbers(const CallPlace& place, Make make) {
  const auto bytes = place.row_count * static_cast<std::int64_t>(sizeof(Value));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(bytes, place.pool));
  auto* values = reinterpret_cast<Value*>(buffer->mutable_data());
  for (std::int64_t i = 0; i < place.row_count; ++i) values[i] = make(i);
  return arrow::Datum(std::make_shared<ArrayType>(place.row_count, std::move(buffer)));
}

}  // namespace

arrow::Result<arrow::Datum> random_values(std::optional<std::uint64_t> seed, const CallPlace& place) {
  RowPlace rows = place.rows;
  if (seed) rows.epoch = 0;  // The same numbers in each epoch.
  const RowBits bits(seed ? *seed * stream_step : rows.seed, random_purpose, rows);
  return make_numbers<arrow::DoubleArray, double>(
      place, [&](std::int64_t i) { return static_cast<double>(bits[i][0] >> 11U) * 0x1.0p-53; });
}

arrow::Result<arrow::Datum> uuid_values(const CallPlace& place) {
  const RowBits bits(place.rows.seed, uuid_purpose, place.rows);
  arrow::StringBuilder builder(place.pool);
  ARROW_RETURN_NOT_OK(builder.Reserve(place.row_count));
  ARROW_RETURN_NOT_OK(builder.ReserveData(place.row_count * 36));
  std::array<char, 40> text{};
  for (std::int64_t i = 0; i < place.row_count; ++i) {
    const auto [high, low] = bits[i];
    const std::uint64_t a = (high & ~std::uint64_t{0xf000}) | 0x4000U;
    const std::uint64_t b = (low & ~(std::uint64_t{3} << 62U)) | (std::uint64_t{2} << 62U);
    const int length =
        std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(a >> 32U),
                      static_cast<unsigned>((a >> 16U) & 0xffffU), static_cast<unsigned>(a & 0xffffU),
                      static_cast<unsigned>(b >> 48U), static_cast<unsigned long long>(b & 0xffffffffffffU));
    builder.UnsafeAppend(text.data(), length);
  }
  ARROW_ASSIGN_OR_RAISE(auto array, builder.Finish());
  return arrow::Datum(array);
}

arrow::Result<arrow::Datum> increasing_ids(const CallPlace& place) {
  const std::int64_t unit = place.rows.unit_before_union.value_or(static_cast<std::int64_t>(place.rows.unit));
  const std::int64_t first = (unit << 33U) + place.rows.first_row;
  return make_numbers<arrow::Int64Array, std::int64_t>(place, [first](std::int64_t i) { return first + i; });
}

}  // namespace headway::flow
