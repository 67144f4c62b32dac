#pragma once

#include <headway/export.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace headway::data {

/// How a column's values lie in memory.
enum class DType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  text,  ///< Text or bytes: `Column::text`.
  none   ///< None of these, such as a struct; nothing of it can be read here.
};

/// The type's name: "float32", "boolean".
HEADWAY_API const char* to_string(DType dtype);

/// A C++ type that values of a column may have.
template <class T>
concept ColumnValue = std::same_as<T, bool> || std::same_as<T, float> || std::same_as<T, double> ||
                      (std::integral<T> && !std::same_as<T, char> && sizeof(T) <= 8);

/// The `DType` that values of the C++ type have.
template <ColumnValue T>
constexpr DType dtype_of() {
  if (std::same_as<T, bool>) return DType::boolean;
  if (std::floating_point<T>) return sizeof(T) == 4 ? DType::float32 : DType::float64;
  const int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<DType>(static_cast<int>(std::is_signed_v<T> ? DType::int8 : DType::uint8) + size);
}

/// A column of a batch: a view of its memory, which lives as long as the batch or any column of it.
/// Copies view the same values, which may be changed.
class HEADWAY_API Column {
 public:
  const std::string& name() const;
  /// As Arrow names it: "int32", "timestamp[us]", "list<item: float>"; of a tensor that of its
  /// elements.
  const std::string& type() const;
  /// Of the values; dates, times and durations are integers.
  DType dtype() const;
  std::int64_t rows() const;
  /// Rows first; then what each row has: nothing more for a number or text, lengths for a tensor,
  /// and one length for lists that all have it. Lists of several lengths have none.
  const std::vector<std::int64_t>& shape() const;
  /// How many rows are missing. Their values are unspecified.
  std::int64_t null_count() const;
  bool is_null(std::int64_t row) const;

  /// All values, row after row. Throws `BadResult` (`invalid_argument`), naming the column, unless
  /// `dtype` is the one of `T`.
  ///
  ///     std::span<const float> prices = batch["price"].as<float>();
  template <ColumnValue T>
  std::span<T> as() const {
    const std::span<std::byte> bytes = values(dtype_of<T>());
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// The values of one row, of a tensor or a list. Throws as `as`.
  template <ColumnValue T>
  std::span<T> row(std::int64_t row) const {
    const auto [first, last] = range(row);
    return as<T>().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  }
  /// A row of text or bytes. Throws `BadResult` (`invalid_argument`) for another `dtype`.
  std::string_view text(std::int64_t row) const;

  /// The values' bytes as they lie, row after row: for a library with other types. Throws as `as`
  /// for text and for `DType::none`.
  std::span<std::byte> bytes() const;

  struct State;
  /// For Headway's own use.
  explicit Column(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::span<std::byte> values(DType wanted) const;
  std::pair<std::int64_t, std::int64_t> range(std::int64_t row) const;

  std::shared_ptr<const State> state_;
};

/// Rows of a data set: columns in memory that this process shares with the data process of its
/// machine, and that nobody else uses meanwhile. Copies are the same batch.
///
///     for (headway::data::Batch batch : shard.batches({.batch_size = 64})) {
///       train(batch["image"].as<std::uint8_t>(), batch["label"].as<std::int64_t>());
///     }
class HEADWAY_API Batch {
 public:
  std::int64_t rows() const { return rows_; }
  const std::vector<Column>& columns() const { return columns_; }
  bool contains(std::string_view name) const;
  /// A column. Throws `BadResult` (`invalid_argument`), naming the columns that there are.
  const Column& operator[](std::string_view name) const;

  /// Puts a column in, in place of one of the same name, or as the last one: for functions of
  /// `Dataset::map_batches`. `shape` is that of a row; `values` has the values of all rows, one
  /// after the other. Throws `BadResult` (`invalid_argument`) for another number of values.
  ///
  ///     batch.set("scaled", values);  // a number a row
  ///     batch.set("pixels", pixels, {3, 32, 32});
  template <ColumnValue T>
    requires(!std::same_as<T, bool>)
  void set(const std::string& name, std::vector<T> values, const std::vector<std::int64_t>& shape = {}) {
    const auto held = std::make_shared<std::vector<T>>(std::move(values));
    put(name, dtype_of<T>(), std::as_writable_bytes(std::span<T>(*held)), shape, held);
  }
  /// Takes a column out. Throws as `[]`.
  void drop(std::string_view name);

  /// For Headway's own use.
  Batch(std::int64_t rows, std::vector<Column> columns) : rows_(rows), columns_(std::move(columns)) {}

 private:
  void put(const std::string& name, DType dtype, std::span<std::byte> values, const std::vector<std::int64_t>& shape,
           std::shared_ptr<const void> owner);

  std::int64_t rows_ = 0;
  std::vector<Column> columns_;
};

}  // namespace headway::data
