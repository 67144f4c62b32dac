#include "flow/unit_steps.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

arrow::Result<std::shared_ptr<arrow::RecordBatch>> joined(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& pieces) {
  if (pieces.empty()) return nullptr;
  if (pieces.size() == 1) return pieces.front();
  return arrow::ConcatenateRecordBatches(pieces);
}

}  // namespace

StepRun::StepRun(const UnitSteps& steps, const UnitPlace& place, const ItemSink& sink, ThreadClock* clock)
    : steps_(steps),
      place_(place),
      sink_(sink),
      states_(steps.size()),
      clock_(clock),
      first_(clock == nullptr ? 0 : clock->stages() - steps.size()) {}

ItemSink StepRun::sink_after(std::size_t step) {
  return [this, step](const std::shared_ptr<arrow::RecordBatch>& made) { return put(step + 1, made); };
}

arrow::Status StepRun::put(std::size_t step, const std::shared_ptr<arrow::RecordBatch>& rows) {
  const std::size_t stage = first_ + step;
  if (clock_ != nullptr && stage > 0) clock_->gauge(stage - 1).made(*rows);
  if (step == steps_.size()) {
    const Stay stay(clock_, ThreadClock::before(stage));
    return sink_(rows);
  }
  State& state = states_[step];
  if (steps_[step]->needs_whole_unit()) {
    if (rows->num_rows() > 0 || state.held.empty()) state.held.push_back(rows);
    return arrow::Status::OK();
  }
  const std::int64_t first = state.rows;
  state.rows += rows->num_rows();
  return run(step, rows, first);
}

arrow::Status StepRun::run(std::size_t step, const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row) {
  const std::size_t stage = first_ + step;
  const Stay stay(clock_, ThreadClock::in(stage));
  if (clock_ != nullptr) {
    place_.on_wait = [this, stage](bool waits) {
      clock_->go(waits ? ThreadClock::idle_in(stage) : ThreadClock::in(stage));
    };
  }
  // The numbers of rows are those of the file up to the first step that leaves some out.
  const auto same = std::find_if(steps_.begin(), steps_.end(), [](const auto& each) { return !each->keeps_rows(); });
  if (step > static_cast<std::size_t>(same - steps_.begin())) {
    UnitPlace place = place_;
    place.place_of_row = nullptr;
    return steps_[step]->run(rows, first_row, place, sink_after(step));
  }
  return steps_[step]->run(rows, first_row, place_, sink_after(step));
}

arrow::Status StepRun::finish() {
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    if (!steps_[step]->needs_whole_unit()) continue;
    ARROW_ASSIGN_OR_RAISE(const auto rows, joined(std::exchange(states_[step].held, {})));
    if (rows != nullptr && rows->num_rows() > 0) ARROW_RETURN_NOT_OK(run(step, rows, 0));
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Schema>> schema_after(const UnitSteps& steps,
                                                           std::shared_ptr<arrow::Schema> schema) {
  for (const auto& step : steps) {
    if (schema == nullptr) return schema;
    ARROW_ASSIGN_OR_RAISE(schema, step->schema(schema));
  }
  return schema;
}

}  // namespace headway::flow
