#include "flow/finer_source.hpp"

#include "flow/rows_of_reader.hpp"

#include <algorithm>
#include <utility>

namespace headway::flow {
namespace {

/// `begin` of a unit is the number of the other source's unit, and `end` its first row there.
class FinerSource : public Source {
 public:
  FinerSource(std::shared_ptr<const Source> source, std::int64_t rows) : source_(std::move(source)) {
    const std::vector<Unit>& whole = source_->units();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (std::int64_t first = 0; first < whole[i].rows; first += rows) {
        Unit unit = whole[i];
        unit.rows = std::min(rows, whole[i].rows - first);
        unit.bytes = whole[i].bytes / whole[i].rows * unit.rows;
        unit.begin = static_cast<std::int64_t>(i);
        unit.end = first;
        if (unit.rows < whole[i].rows && !unit.where.empty()) {
          unit.where += ", of these " + std::to_string(first) + " to " + std::to_string(first + unit.rows - 1);
        }
        units_.push_back(std::move(unit));
      }
    }
  }

  std::shared_ptr<arrow::Schema> schema() const override { return source_->schema(); }
  const std::vector<Unit>& units() const override { return units_; }
  std::vector<std::string> files() const override { return source_->files(); }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const Unit& unit, const std::vector<int>* columns,
                                                                arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(auto rows, source_->read(whole(unit), columns, pool));
    return std::make_shared<RowsOfReader>(std::move(rows), unit.end, unit.rows);
  }

  std::string place_of(const Unit& unit, std::int64_t row) const override {
    return source_->place_of(whole(unit), unit.end + row);
  }

 private:
  const Unit& whole(const Unit& unit) const { return source_->units()[static_cast<std::size_t>(unit.begin)]; }

  const std::shared_ptr<const Source> source_;
  std::vector<Unit> units_;
};

}  // namespace

std::shared_ptr<const Source> in_finer_units(std::shared_ptr<const Source> source, std::int64_t rows) {
  const auto& units = source->units();
  if (std::ranges::any_of(units, [](const Unit& unit) { return unit.rows < 0; })) return nullptr;
  return std::make_shared<FinerSource>(std::move(source), rows);
}

}  // namespace headway::flow
