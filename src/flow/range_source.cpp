#include "flow/range_source.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/extension/fixed_shape_tensor.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace headway::flow {
namespace {

constexpr std::int64_t unit_bytes = 1 << 20;

class RangeSource : public Source {
 public:
  RangeSource(std::int64_t rows, std::int64_t values_per_row, std::shared_ptr<arrow::Field> field)
      : values_per_row_(values_per_row), schema_(arrow::schema({std::move(field)})) {
    const std::int64_t row_bytes = std::max<std::int64_t>(values_per_row, 1) * 8;
    const std::int64_t unit_rows = std::max<std::int64_t>(unit_bytes / row_bytes, 1);
    for (std::int64_t begin = 0; begin < rows; begin += unit_rows) {
      Unit unit;
      unit.begin = begin;
      unit.end = std::min(begin + unit_rows, rows);
      unit.rows = unit.end - begin;
      unit.bytes = unit.rows * row_bytes;
      unit.where = "range, rows " + std::to_string(begin) + " to " + std::to_string(unit.end - 1);
      units_.push_back(std::move(unit));
    }
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  const std::vector<Unit>& units() const override { return units_; }
  std::vector<std::string> files() const override { return {}; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const Unit& unit, const std::vector<int>* columns,
                                                                arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(auto batch, rows_of(unit, pool));
    if (columns != nullptr) {
      ARROW_ASSIGN_OR_RAISE(batch, batch->SelectColumns(*columns));
    }
    return arrow::RecordBatchReader::Make({batch}, batch->schema());
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> rows_of(const Unit& unit, arrow::MemoryPool* pool) const {
    const std::int64_t count = unit.rows * values_per_row_;
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values, arrow::AllocateBuffer(count * 8, pool));
    auto* const to = reinterpret_cast<std::int64_t*>(values->mutable_data());
    for (std::int64_t row = 0; row < unit.rows; ++row) {
      std::fill_n(to + row * values_per_row_, values_per_row_, unit.begin + row);
    }
    auto data = arrow::ArrayData::Make(arrow::int64(), count, {nullptr, std::move(values)}, 0);
    const auto& type = schema_->field(0)->type();
    if (type->id() == arrow::Type::EXTENSION) {
      data = arrow::ArrayData::Make(type, unit.rows, {nullptr}, {std::move(data)}, 0);
    }
    return arrow::RecordBatch::Make(schema_, unit.rows, {std::move(data)});
  }

  const std::int64_t values_per_row_;
  const std::shared_ptr<arrow::Schema> schema_;
  std::vector<Unit> units_;
};

}  // namespace

arrow::Result<std::unique_ptr<Source>> open_range(const data::RangeNode& range) {
  if (!range.tensor_shape) {
    return std::make_unique<RangeSource>(range.rows, 1, arrow::field("id", arrow::int64(), false));
  }
  const auto& shape = *range.tensor_shape;
  const auto values = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return std::make_unique<RangeSource>(
      range.rows, values, arrow::field("data", arrow::extension::fixed_shape_tensor(arrow::int64(), shape), false));
}

}  // namespace headway::flow
