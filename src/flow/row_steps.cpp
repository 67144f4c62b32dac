#include "flow/row_steps.hpp"

#include "data/philox.hpp"
#include "flow/expressions/evaluator.hpp"
#include "flow/function_batches.hpp"
#include "flow/placed.hpp"

#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>

#include <algorithm>
#include <functional>

namespace headway::flow {
namespace {

/// Leaves columns out.
class DropStep : public UnitStep {
 public:
  explicit DropStep(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const override {
    ARROW_ASSIGN_OR_RAISE(const auto kept, kept_of(*input));
    arrow::FieldVector fields;
    for (const int column : kept) fields.push_back(input->field(column));
    return arrow::schema(std::move(fields), input->metadata());
  }
  bool keeps_rows() const override { return true; }

  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t, const UnitPlace&,
                    const ItemSink& sink) const override {
    ARROW_ASSIGN_OR_RAISE(const auto kept, kept_of(*rows->schema()));
    ARROW_ASSIGN_OR_RAISE(auto selected, rows->SelectColumns(kept));
    return sink(std::move(selected));
  }

 private:
  arrow::Result<std::vector<int>> kept_of(const arrow::Schema& schema) const {
    for (const std::string& name : columns_) {
      if (schema.GetFieldIndex(name) < 0) {
        return arrow::Status::Invalid("drop_columns: there is no column \"", name, "\"; there are ", names(schema));
      }
    }
    std::vector<int> kept;
    for (int i = 0; i < schema.num_fields(); ++i) {
      if (std::find(columns_.begin(), columns_.end(), schema.field(i)->name()) == columns_.end()) kept.push_back(i);
    }
    return kept;
  }

  static std::string names(const arrow::Schema& schema) {
    std::string list;
    for (const auto& field : schema.fields()) list += (list.empty() ? "\"" : ", \"") + field->name() + "\"";
    return list.empty() ? "none" : list;
  }

  const std::vector<std::string> columns_;
};

RowPlace row_place(const UnitPlace& place, std::int64_t first_row) {
  return {place.seed, place.epoch, static_cast<std::uint64_t>(place.unit), first_row, place.unit_before_union};
}

/// Rows from one of them on.
using OnRows = std::function<arrow::Status(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row)>;

/// A failure over rows with the place of the first row that fails by itself; found by halves. As it
/// is where rows have no places, and where it fails without rows, too: for types.
arrow::Status at_row(const arrow::Status& failure, const std::shared_ptr<arrow::RecordBatch>& rows,
                     std::int64_t first_row, const UnitPlace& place, const OnRows& work) {
  if (!place.place_of_row || rows->num_rows() == 0 || !work(rows->Slice(0, 0), first_row).ok()) return failure;
  std::int64_t begin = 0;
  std::int64_t length = rows->num_rows();
  while (length > 1) {
    const std::int64_t half = length / 2;
    const bool is_later = work(rows->Slice(begin, half), first_row + begin).ok();
    begin += is_later ? half : 0;
    length = is_later ? length - half : half;
  }
  const arrow::Status of_row = work(rows->Slice(begin, 1), first_row + begin);
  return placed(of_row.ok() ? failure : of_row, place.place_of_row(first_row + begin));
}

/// Makes columns.
class ProjectStep : public UnitStep {
 public:
  ProjectStep(std::vector<NamedEvaluator> columns, bool keep, arrow::MemoryPool* pool)
      : columns_(std::move(columns)), keep_(keep), pool_(pool) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const override {
    ARROW_ASSIGN_OR_RAISE(const auto none, arrow::RecordBatch::MakeEmpty(input, pool_));
    ARROW_ASSIGN_OR_RAISE(const auto made, project_rows(none, columns_, keep_, {}, pool_));
    return made->schema();
  }
  bool keeps_rows() const override { return true; }

  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row, const UnitPlace& place,
                    const ItemSink& sink) const override {
    const auto project = [&](const std::shared_ptr<arrow::RecordBatch>& some, std::int64_t first) {
      return project_rows(some, columns_, keep_, row_place(place, first), pool_);
    };
    auto made = project(rows, first_row);
    if (made.ok()) return sink(made.MoveValueUnsafe());
    return at_row(made.status(), rows, first_row, place,
                  [&](const auto& some, std::int64_t first) { return project(some, first).status(); });
  }

 private:
  const std::vector<NamedEvaluator> columns_;
  const bool keep_;
  arrow::MemoryPool* const pool_;
};

/// Keeps the rows for which an expression is true.
class FilterStep : public UnitStep {
 public:
  FilterStep(Evaluator where, arrow::MemoryPool* pool) : where_(std::move(where)), pool_(pool) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const override {
    ARROW_RETURN_NOT_OK(where_.type(*input).status());
    return input;
  }

  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row, const UnitPlace& place,
                    const ItemSink& sink) const override {
    const auto filter = [&](const std::shared_ptr<arrow::RecordBatch>& some, std::int64_t first) {
      return filter_rows(some, where_, row_place(place, first), pool_);
    };
    auto kept = filter(rows, first_row);
    if (kept.ok()) return sink(kept.MoveValueUnsafe());
    return at_row(kept.status(), rows, first_row, place,
                  [&](const auto& some, std::int64_t first) { return filter(some, first).status(); });
  }

 private:
  const Evaluator where_;
  arrow::MemoryPool* const pool_;
};

/// Keeps rows by chance, as the seed, the unit and the row's number in it decide.
class SampleStep : public UnitStep {
 public:
  SampleStep(const data::SampleNode& sample, arrow::MemoryPool* pool) : sample_(sample), pool_(pool) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const override {
    return input;
  }
  bool needs_whole_unit() const override { return true; }

  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t, const UnitPlace& place,
                    const ItemSink& sink) const override {
    const std::int64_t unit = place.unit_before_union.value_or(place.unit);
    data::RowSample sample(sample_.fraction, sample_.seed, static_cast<std::uint32_t>(unit));
    arrow::BooleanBuilder kept(pool_);
    ARROW_RETURN_NOT_OK(kept.Reserve(rows->num_rows()));
    for (std::int64_t row = 0; row < rows->num_rows(); ++row) kept.UnsafeAppend(sample.keeps_next());
    ARROW_ASSIGN_OR_RAISE(const auto mask, kept.Finish());
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum filtered, arrow::compute::Filter(rows, mask));
    return sink(filtered.record_batch());
  }

 private:
  const data::SampleNode sample_;
  arrow::MemoryPool* const pool_;
};

}  // namespace

bool is_step(const data::Node& node) {
  return node.as<data::ProjectNode>() != nullptr || node.as<data::DropNode>() != nullptr ||
         node.as<data::FilterNode>() != nullptr || node.as<data::SampleNode>() != nullptr ||
         node.as<data::FunctionNode>() != nullptr;
}

bool keeps_rows(const data::Node& node) {
  if (const auto* function = node.as<data::FunctionNode>()) return keeps_rows(*function);
  return node.as<data::ProjectNode>() != nullptr || node.as<data::DropNode>() != nullptr;
}

arrow::Result<std::shared_ptr<const UnitStep>> row_step(const data::Node& node, arrow::MemoryPool* pool) {
  if (const auto* drop = node.as<data::DropNode>()) return std::make_shared<DropStep>(drop->columns);
  if (const auto* sample = node.as<data::SampleNode>()) return std::make_shared<SampleStep>(*sample, pool);
  if (const auto* project = node.as<data::ProjectNode>()) {
    ARROW_ASSIGN_OR_RAISE(auto columns, compile_all(project->columns));
    return std::make_shared<ProjectStep>(std::move(columns), project->keep, pool);
  }
  if (const auto* filter = node.as<data::FilterNode>()) {
    ARROW_ASSIGN_OR_RAISE(auto where, Evaluator::compile(filter->where));
    return std::make_shared<FilterStep>(std::move(where), pool);
  }
  return nullptr;
}

}  // namespace headway::flow
