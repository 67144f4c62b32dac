#include "flow/cut_stages.hpp"

#include "flow/bytes_of_rows.hpp"
#include "flow/row_queue.hpp"

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

class CutStage : public Stage {
 public:
  CutStage(std::unique_ptr<Stage> input, std::int64_t rows, const UnitBytes& bytes)
      : input_(std::move(input)), rows_(rows), limit_(bytes), left_(rows) {}

  arrow::Result<std::optional<Chunk>> next() override {
    ARROW_ASSIGN_OR_RAISE(const bool has, input_.has_rows());
    if (!has) return std::nullopt;
    count_bytes();
    Chunk chunk;
    chunk.credit = input_.credit();
    chunk.rows = input_.take(std::min(left_, input_.rows()));
    chunk.unit = unit_;
    taken_ += chunk.rows->num_rows();
    left_ -= chunk.rows->num_rows();
    chunk.ends_unit = left_ == 0;
    if (chunk.ends_unit) {
      left_ = rows_;
      taken_ = 0;
      bytes_ = 0;
      ++unit_;
    }
    return chunk;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return input_.stage().schema(); }
  void stop() override { input_.stop(); }

 private:
  /// Has the unit end at the next multiple behind the row that has the last byte.
  void count_bytes() {
    if (limit_.most == UnitBytes{}.most || bytes_ >= limit_.most) return;
    const std::int64_t rows = std::min(left_, input_.rows());
    const RowsAndBytes fitting = rows_within(*input_.front().Slice(0, rows), limit_.most - 1 - bytes_);
    bytes_ = fitting.rows < rows ? limit_.most : bytes_ + fitting.bytes;
    if (fitting.rows == rows) return;
    left_ = std::min(left_, rounded_up(taken_ + fitting.rows + 1, limit_.multiple) - taken_);
  }

  RowQueue input_;
  const std::int64_t rows_;
  const UnitBytes limit_;
  std::int64_t left_;       ///< Of the unit.
  std::int64_t taken_ = 0;  ///< The same.
  std::int64_t bytes_ = 0;  ///< Of the rows that were taken, and the limit where they have more.
  std::int64_t unit_ = 0;
};

/// Has all integers of 64 bits and all doubles.
using Number = long double;

Number number_of(const Json& value) {
  if (value.is_int64()) return static_cast<Number>(value.get_int64());
  return value.is_uint64() ? static_cast<Number>(value.get_uint64()) : static_cast<Number>(value.get_double());
}

/// The values of a column of numbers.
class Numbers {
 public:
  static arrow::Result<Numbers> of(const arrow::RecordBatch& rows, const std::string& name) {
    const auto column = rows.GetColumnByName(name);
    if (column == nullptr) return arrow::Status::Invalid("boundaries: there is no column ", name);
    const arrow::Type::type kind = column->type_id();
    if (!arrow::is_integer(kind) && !arrow::is_floating(kind)) {
      return arrow::Status::Invalid("boundaries: column ", name, " is ", column->type()->ToString(),
                                    "; they cut columns of integers or fractions");
    }
    const auto wide = arrow::is_unsigned_integer(kind) ? arrow::uint64()
                      : arrow::is_integer(kind)        ? arrow::int64()
                                                       : arrow::float64();
    ARROW_ASSIGN_OR_RAISE(auto values, arrow::compute::Cast(*column, wide));
    return Numbers(std::move(values));
  }

  /// Of what comes last in any order: NaN.
  Number operator[](std::int64_t row) const {
    if (values_->IsNull(row)) return std::nanl("");
    switch (values_->type_id()) {
      case arrow::Type::UINT64: return static_cast<Number>(static_cast<const arrow::UInt64Array&>(*values_).Value(row));
      case arrow::Type::INT64: return static_cast<Number>(static_cast<const arrow::Int64Array&>(*values_).Value(row));
      default: return static_cast<Number>(static_cast<const arrow::DoubleArray&>(*values_).Value(row));
    }
  }

 private:
  explicit Numbers(std::shared_ptr<arrow::Array> values) : values_(std::move(values)) {}

  std::shared_ptr<arrow::Array> values_;
};

class BoundariesStage : public Stage {
 public:
  BoundariesStage(std::unique_ptr<Stage> input, const data::Boundaries& boundaries)
      : input_(std::move(input)), column_(boundaries.column), descending_(boundaries.descending) {
    for (const Json& each : boundaries.values) boundaries_.push_back(number_of(each));
  }

  arrow::Result<std::optional<Chunk>> next() override {
    if (has_ended_) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(const bool has, input_.has_rows());
    if (!has) return std::nullopt;
    Chunk chunk;
    chunk.credit = input_.credit();
    ARROW_ASSIGN_OR_RAISE(Numbers numbers, Numbers::of(input_.front(), column_));
    const std::size_t part = part_of(numbers[0]);
    const auto rows = std::views::iota(std::int64_t{0}, input_.rows());
    const auto end =
        std::ranges::partition_point(rows, [&](std::int64_t row) { return part_of(numbers[row]) == part; });
    chunk.rows = input_.take(static_cast<std::int64_t>(end - rows.begin()));
    chunk.unit = unit_;
    // Whether the part ends here is seen by the row behind it.
    ARROW_ASSIGN_OR_RAISE(const bool has_more, input_.has_rows());
    has_ended_ = !has_more;
    if (has_more) {
      ARROW_ASSIGN_OR_RAISE(numbers, Numbers::of(input_.front(), column_));
    }
    chunk.ends_unit = has_ended_ || part_of(numbers[0]) != part;
    if (chunk.ends_unit) ++unit_;
    return chunk;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return input_.stage().schema(); }
  void stop() override { input_.stop(); }

 private:
  /// How many boundaries are not above the value.
  std::size_t part_of(Number value) const {
    if (std::isnan(value)) return descending_ ? 0 : boundaries_.size();
    return static_cast<std::size_t>(std::ranges::upper_bound(boundaries_, value) - boundaries_.begin());
  }

  RowQueue input_;
  const std::string column_;
  const bool descending_;
  std::vector<Number> boundaries_;
  bool has_ended_ = false;
  std::int64_t unit_ = 0;
};

}  // namespace

std::unique_ptr<Stage> cut_anew(std::unique_ptr<Stage> input, std::int64_t rows, const UnitBytes& bytes) {
  return std::make_unique<CutStage>(std::move(input), rows, bytes);
}

std::unique_ptr<Stage> cut_at(std::unique_ptr<Stage> input, const data::Boundaries& boundaries) {
  return std::make_unique<BoundariesStage>(std::move(input), boundaries);
}

}  // namespace headway::flow
