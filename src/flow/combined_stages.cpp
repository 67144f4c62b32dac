#include "flow/combined_stages.hpp"

#include "flow/batch_bytes.hpp"
#include "flow/functions/wider_schema.hpp"
#include "flow/row_queue.hpp"
#include "flow/same_columns.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

using Rows = std::shared_ptr<arrow::RecordBatch>;

/// Of several inputs with the same columns, as far as it is known without rows; null: only those of
/// the first one show it.
std::shared_ptr<arrow::Schema> common_schema(const std::vector<std::shared_ptr<arrow::Schema>>& inputs) {
  std::shared_ptr<arrow::Schema> schema;
  if (inputs.front() == nullptr) return schema;
  for (const auto& each : inputs) schema = common_columns(schema, each);
  return schema;
}

std::vector<std::shared_ptr<arrow::Schema>> schemas_of(const Stages& inputs) {
  std::vector<std::shared_ptr<arrow::Schema>> schemas;
  for (const auto& input : inputs) schemas.push_back(input->schema());
  return schemas;
}

/// The columns that all inputs have in common.
class InputColumns {
 public:
  InputColumns(const Stages& inputs, SeenAt seen, std::string operation)
      : seen_(std::move(seen)),
        operation_(std::move(operation)),
        widened_(seen_.rows->types(seen_.giver)),
        schema_(known(inputs)) {}

  /// What is known without rows.
  std::shared_ptr<arrow::Schema> known(const Stages& inputs) const {
    const auto schema = common_schema(schemas_of(inputs));
    return widened_ == nullptr ? schema : common_columns(widened_, schema);
  }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  arrow::Result<Rows> over(const Rows& rows, std::size_t input) {
    if (schema_ == nullptr) schema_ = with_nulls(*rows->schema());
    auto same = with_columns_of(rows, schema_, operation_ + ": data set " + std::to_string(input + 1));
    if (is_schema_widened(same.status())) seen_.rows->add_types(seen_.giver, wider_schema(schema_, *rows->schema()));
    return same;
  }

 private:
  const SeenAt seen_;
  const std::string operation_;
  const std::shared_ptr<arrow::Schema> widened_;  ///< By earlier rows; null: as known.
  std::shared_ptr<arrow::Schema> schema_;
};

/// Over one other stage.
class OverOne : public Stage {
 public:
  explicit OverOne(std::unique_ptr<Stage> input) : input_(std::move(input)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return input_->schema(); }
  void stop() override { input_->stop(); }

 protected:
  std::unique_ptr<Stage> input_;
};

class LimitStage : public OverOne {
 public:
  LimitStage(std::unique_ptr<Stage> input, std::int64_t rows) : OverOne(std::move(input)), left_(rows) {}

  arrow::Result<std::optional<Chunk>> next() override {
    if (left_ <= 0) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(auto chunk, input_->next());
    if (!chunk || chunk->rows == nullptr) return chunk;
    if (chunk->rows->num_rows() >= left_) {
      chunk->rows = chunk->rows->Slice(0, left_);
      chunk->ends_unit = true;
    }
    left_ -= chunk->rows->num_rows();
    return chunk;
  }

 private:
  std::int64_t left_;
};

class ConcatenatedStage : public Stage {
 public:
  ConcatenatedStage(Stages inputs, SeenAt seen)
      : inputs_(std::move(inputs)), columns_(inputs_, std::move(seen), "union") {}

  arrow::Result<std::optional<Chunk>> next() override {
    while (at_ < inputs_.size()) {
      ARROW_ASSIGN_OR_RAISE(auto chunk, inputs_[at_]->next());
      if (!chunk) {
        ++at_;
        continue;
      }
      chunk->unit = units_;
      if (chunk->ends_unit) ++units_;
      chunk->window = 0;
      if (chunk->rows == nullptr) return chunk;
      ARROW_ASSIGN_OR_RAISE(chunk->rows, columns_.over(chunk->rows, at_));
      return chunk;
    }
    return std::nullopt;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return columns_.known(inputs_); }
  void stop() override {
    for (const auto& input : inputs_) input->stop();
  }

 private:
  const Stages inputs_;
  std::size_t at_ = 0;
  std::int64_t units_ = 0;
  InputColumns columns_;
};

std::vector<RowQueue> queues_of(Stages inputs) {
  std::vector<RowQueue> queues;
  for (auto& input : inputs) queues.emplace_back(std::move(input));
  return queues;
}

class ZippedStage : public Stage {
 public:
  explicit ZippedStage(Stages inputs) : inputs_(queues_of(std::move(inputs))) {}

  arrow::Result<std::optional<Chunk>> next() override {
    std::size_t with_rows = 0;
    for (RowQueue& input : inputs_) {
      ARROW_ASSIGN_OR_RAISE(const bool has, input.has_rows());
      if (has) ++with_rows;
    }
    if (with_rows == 0) return std::nullopt;
    if (with_rows < inputs_.size()) {
      return arrow::Status::Invalid("zip: the inputs have different numbers of rows: one ends after ", rows_);
    }
    std::int64_t count = inputs_.front().rows();
    for (const RowQueue& input : inputs_) count = std::min(count, input.rows());
    Chunk chunk;
    chunk.credit = inputs_.front().credit();
    std::vector<Rows> parts;
    for (RowQueue& input : inputs_) parts.push_back(input.take(count));
    rows_ += count;
    chunk.unit = units_++;
    chunk.rows = joined(parts, count);
    return chunk;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return nullptr; }
  void stop() override {
    for (RowQueue& input : inputs_) input.stop();
  }

 private:
  static Rows joined(const std::vector<Rows>& parts, std::int64_t count) {
    arrow::FieldVector fields;
    arrow::ArrayVector columns;
    const auto is_taken = [&](const std::string& name) {
      return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return field->name() == name; });
    };
    for (const Rows& part : parts) {
      for (int i = 0; i < part->num_columns(); ++i) {
        const auto& field = part->schema()->field(i);
        std::string name = field->name();
        for (int number = 1; is_taken(name); ++number) name = field->name() + "_" + std::to_string(number);
        fields.push_back(field->WithName(name));
        columns.push_back(part->column(i));
      }
    }
    return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), count, std::move(columns));
  }

  std::vector<RowQueue> inputs_;
  std::int64_t rows_ = 0;
  std::int64_t units_ = 0;
};

class MixedStage : public Stage {
 public:
  MixedStage(Stages inputs, const data::MixNode& mix, SeenAt seen)
      : mix_(mix), columns_(inputs, std::move(seen), "mix"), inputs_(queues_of(std::move(inputs))) {
    taken_.resize(inputs_.size());
    ended_.resize(inputs_.size());
  }

  /// One row at a time is a slice; they are joined where batches are written.
  arrow::Result<std::optional<Chunk>> next() override {
    while (true) {
      const std::optional<std::size_t> input = whose_turn();
      if (!input) return std::nullopt;
      ARROW_ASSIGN_OR_RAISE(const bool has, inputs_[*input].has_rows());
      if (!has && mix_.stop == data::MixStop::shortest) return std::nullopt;
      if (!has) {
        ended_[*input] = true;
        continue;
      }
      Chunk chunk;
      chunk.credit = inputs_[*input].credit();
      const std::int64_t count = std::min(rows_in_turn(*input), inputs_[*input].rows());
      chunk.rows = inputs_[*input].take(count);
      taken_[*input] += static_cast<double>(count) / mix_.weights[*input];
      chunk.unit = units_++;
      ARROW_ASSIGN_OR_RAISE(chunk.rows, columns_.over(chunk.rows, *input));
      return chunk;
    }
  }

  std::shared_ptr<arrow::Schema> schema() const override { return columns_.schema(); }
  void stop() override {
    for (RowQueue& input : inputs_) input.stop();
  }

 private:
  double after(std::size_t input) const { return taken_[input] + 1 / mix_.weights[input]; }

  /// Whose next row is due first.
  std::optional<std::size_t> whose_turn() const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!ended_[i] && mix_.weights[i] > 0 && (!first || after(i) < after(*first))) first = i;
    }
    return first;
  }

  /// How many rows of it come before another's turn.
  std::int64_t rows_in_turn(std::size_t input) const {
    double due = -1;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (i != input && !ended_[i] && mix_.weights[i] > 0 && (due < 0 || after(i) < due)) due = after(i);
    }
    if (due < 0) return inputs_[input].rows();
    return std::max<std::int64_t>(1, static_cast<std::int64_t>((due - taken_[input]) * mix_.weights[input]));
  }

  const data::MixNode mix_;
  InputColumns columns_;
  std::vector<RowQueue> inputs_;
  std::vector<double> taken_;  ///< Rows by weight.
  std::vector<bool> ended_;
  std::int64_t units_ = 0;
};

/// Collects the chunks of a unit, or of a part of it that the step may get for itself (see
/// StepRun), as work for the step.
class UnitCollector {
 public:
  UnitCollector(std::shared_ptr<Stage> input, std::shared_ptr<const UnitSteps> steps, UnitPlace place,
                std::shared_ptr<FlowGauges> flow, StagePath gauges)
      : input_(std::move(input)),
        steps_(std::move(steps)),
        place_(std::move(place)),
        flow_(std::move(flow)),
        gauges_(std::move(gauges)),
        part_rows_(steps_->size() == 1 ? steps_->front()->part_rows() : 0) {}

  arrow::Result<std::optional<Item>> next() {
    while (!has_ended_ && (chunks_.empty() || !chunks_.back().ends_unit)) {
      if (part_rows_ > 0 && bytes_ >= part_bytes_min) {
        std::vector<Chunk> part = complete_part();
        if (!part.empty()) return item_of(std::move(part), false);
      }
      ARROW_ASSIGN_OR_RAISE(auto chunk, input_->next());
      has_ended_ = !chunk;
      if (!chunk) break;
      if (chunk->rows != nullptr) bytes_ += batch_bytes(*chunk->rows);
      chunks_.push_back(std::move(*chunk));
    }
    if (chunks_.empty() && parts_before_ == 0) return std::nullopt;
    // All rows of the last unit went on in parts, and the input has not said that it ends.
    if (chunks_.empty()) chunks_.push_back(end_);
    bytes_ = 0;
    return item_of(std::exchange(chunks_, {}), true);
  }

 private:
  /// As many rows as are a multiple of the step's; the others stay. Empty: there are too few.
  std::vector<Chunk> complete_part() {
    std::int64_t count = 0;
    for (const Chunk& chunk : chunks_) count += rows_of(chunk);
    Chunk& last = chunks_.back();
    const auto rest = rest_of_part(count, rows_of(last), part_rows_);
    if (!rest) return {};
    std::vector<Chunk> left;
    if (*rest > 0) {
      left.push_back(last);
      left.back().rows = last.rows->Slice(rows_of(last) - *rest);
      last.rows = last.rows->Slice(0, rows_of(last) - *rest);
    }
    bytes_ = left.empty() ? 0 : batch_bytes(*left.back().rows);
    return std::exchange(chunks_, std::move(left));
  }

  static std::int64_t rows_of(const Chunk& chunk) { return chunk.rows == nullptr ? 0 : chunk.rows->num_rows(); }

  Item item_of(std::vector<Chunk> given, bool ends_unit) {
    auto chunks = std::make_shared<std::vector<Chunk>>(std::move(given));
    Item item;
    std::int64_t rows = 0;
    for (const Chunk& chunk : *chunks) {
      item.bytes += chunk.rows == nullptr ? 0 : batch_bytes(*chunk.rows);
      rows += rows_of(chunk);
    }
    item.window = chunks->front().window;
    item.unit = chunks->front().unit;
    item.ends_unit = ends_unit;
    end_.window = item.window;
    end_.unit = item.unit;
    UnitPlace place = place_;
    place.unit = item.unit;
    place_.is_first = false;
    item.work = [chunks, steps = steps_, place, flow = flow_, gauges = gauges_, rows_before = rows_before_,
                 parts_before = parts_before_](const ItemSink& sink) -> arrow::Status {
      ThreadClock clock(*flow, gauges);
      StepRun run(*steps, place, sink, &clock);
      run.begin_behind(rows_before, parts_before);
      for (const Chunk& chunk : *chunks) {
        if (chunk.rows != nullptr) ARROW_RETURN_NOT_OK(run.put(chunk.rows));
      }
      return run.finish();
    };
    rows_before_ = ends_unit ? 0 : rows_before_ + rows;
    parts_before_ = ends_unit ? 0 : parts_before_ + 1;
    return item;
  }

  std::shared_ptr<Stage> input_;
  std::shared_ptr<const UnitSteps> steps_;
  UnitPlace place_;
  const std::shared_ptr<FlowGauges> flow_;
  const StagePath gauges_;
  const std::int64_t part_rows_;  ///< See UnitStep.
  std::vector<Chunk> chunks_;     ///< Of the unit that is collected.
  std::int64_t bytes_ = 0;        ///< Theirs.
  Chunk end_;                     ///< Of the last item's unit, without rows.
  std::int64_t rows_before_ = 0;  ///< Of the unit, in parts before.
  std::uint64_t parts_before_ = 0;
  bool has_ended_ = false;  ///< The input, which is not asked again then.
};

}  // namespace

std::unique_ptr<Stage> limit_rows(std::unique_ptr<Stage> input, std::int64_t rows) {
  return std::make_unique<LimitStage>(std::move(input), rows);
}

std::unique_ptr<Stage> one_after_another(Stages inputs, SeenAt seen) {
  return std::make_unique<ConcatenatedStage>(std::move(inputs), std::move(seen));
}

std::unique_ptr<Stage> side_by_side(Stages inputs) { return std::make_unique<ZippedStage>(std::move(inputs)); }

std::unique_ptr<Stage> mixed(Stages inputs, const data::MixNode& mix, SeenAt seen) {
  return std::make_unique<MixedStage>(std::move(inputs), mix, std::move(seen));
}

arrow::Result<std::unique_ptr<Stage>> with_steps(Budget& budget, ParallelLimits limits, std::unique_ptr<Stage> input,
                                                 UnitSteps steps, const UnitPlace& place,
                                                 const std::shared_ptr<FlowGauges>& flow, const StagePath& gauges) {
  std::shared_ptr<Stage> below = std::move(input);
  ARROW_ASSIGN_OR_RAISE(auto schema, schema_after(steps, below->schema()));
  auto shared = std::make_shared<const UnitSteps>(std::move(steps));
  auto collector = std::make_shared<UnitCollector>(below, shared, place, flow, gauges);
  auto next = [collector] { return collector->next(); };
  auto stop = [below, shared] {
    below->stop();
    for (const auto& step : *shared) step->stop();
  };
  const int pool = flow->next_pool();
  for (const auto& gauge : gauges) gauge->set_pool(pool);
  limits.items_hold_rows = true;
  auto stage =
      std::make_unique<ParallelStage>(budget, std::move(limits), std::move(schema), std::move(next), std::move(stop));
  stage->count_in(gauges);
  return awaited(std::move(stage), flow);
}

}  // namespace headway::flow
