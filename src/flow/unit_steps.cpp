#include "flow/unit_steps.hpp"

#include "flow/batch_bytes.hpp"

#include <arrow/extension_type.h>
#include <arrow/type_traits.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <limits>

namespace headway::flow {
namespace {

constexpr std::int64_t offsets_max = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t seeds_apart = 0x9e3779b97f4a7c15;

class InputGone : public arrow::StatusDetail {
 public:
  explicit InputGone(bool is_unused) : is_unused(is_unused) {}
  const char* type_id() const override { return "headway::InputGone"; }
  std::string ToString() const override { return "the unit must be read once more"; }
  const bool is_unused;
};

class WorkerBusy : public arrow::StatusDetail {
 public:
  const char* type_id() const override { return "headway::WorkerBusy"; }
  std::string ToString() const override { return "no worker is free"; }
};

/// Whether values are found by offsets of 32 bits.
bool has_small_offsets(const arrow::DataType& type) {
  if (type.id() == arrow::Type::EXTENSION) {
    return has_small_offsets(*static_cast<const arrow::ExtensionType&>(type).storage_type());
  }
  if (arrow::is_base_binary_like(type.id())) return arrow::offset_bit_width(type.id()) == 32;
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::MAP ||
         std::ranges::any_of(type.fields(), [](const auto& field) { return has_small_offsets(*field->type()); });
}

/// The bytes of each column with such values; 0 for others.
arrow::Result<std::vector<std::int64_t>> offset_bytes(const arrow::RecordBatch& piece) {
  std::vector<std::int64_t> bytes;
  for (const auto& column : piece.columns()) {
    bytes.push_back(0);
    if (!has_small_offsets(*column->type())) continue;
    ARROW_ASSIGN_OR_RAISE(bytes.back(), arrow::util::ReferencedBufferSize(*column));
  }
  return bytes;
}

}  // namespace

arrow::Result<arrow::RecordBatchVector> joined(const arrow::RecordBatchVector& pieces, std::int64_t offset_max) {
  if (pieces.size() < 2) return pieces;
  arrow::RecordBatchVector made;
  arrow::RecordBatchVector together;
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(pieces.front()->num_columns()));
  const auto join = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto rows, arrow::ConcatenateRecordBatches(together));
    made.push_back(std::move(rows));
    together.clear();
    return arrow::Status::OK();
  };
  for (const auto& piece : pieces) {
    ARROW_ASSIGN_OR_RAISE(const auto more, offset_bytes(*piece));
    const auto fits = [&] {
      for (std::size_t i = 0; i < more.size(); ++i) {
        if (bytes[i] + more[i] > offset_max) return false;
      }
      return true;
    };
    if (!together.empty() && !fits()) {
      ARROW_RETURN_NOT_OK(join());
      std::ranges::fill(bytes, 0);
    }
    for (std::size_t i = 0; i < more.size(); ++i) bytes[i] += more[i];
    together.push_back(piece);
  }
  ARROW_RETURN_NOT_OK(join());
  return made;
}

arrow::Status input_is_gone(const arrow::Status& reason, bool is_unused) {
  return reason.WithDetail(std::make_shared<InputGone>(is_unused));
}

bool is_input_gone(const arrow::Status& status) {
  return status.detail() && std::string_view(status.detail()->type_id()) == "headway::InputGone";
}

bool is_input_unused(const arrow::Status& status) {
  return is_input_gone(status) && static_cast<const InputGone&>(*status.detail()).is_unused;
}

arrow::Status worker_is_busy() {
  return arrow::Status::Cancelled("no worker is free").WithDetail(std::make_shared<WorkerBusy>());
}

bool is_worker_busy(const arrow::Status& status) {
  return status.detail() && std::string_view(status.detail()->type_id()) == "headway::WorkerBusy";
}

StepRun::StepRun(const UnitSteps& steps, const UnitPlace& place, const ItemSink& sink, ThreadClock* clock,
                 std::vector<std::int64_t> units)
    : steps_(steps),
      place_(place),
      sink_(sink),
      units_(std::move(units)),
      states_(steps.size()),
      clock_(clock),
      first_(clock == nullptr ? 0 : clock->stages() - steps.size()),
      first_whole_(static_cast<std::size_t>(
          std::ranges::find_if(steps, &UnitStep::needs_whole_unit, [](const auto& step) -> auto& { return *step; }) -
          steps.begin())) {}

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
  if (steps_[step]->needs_whole_unit()) return hold(step, rows);
  const std::int64_t first = states_[step].rows;
  states_[step].rows += rows->num_rows();
  return run(step, rows, first, place_);
}

/// Rows that come at once stay together: a part is complete when more rows come.
arrow::Status StepRun::hold(std::size_t step, const std::shared_ptr<arrow::RecordBatch>& rows) {
  State& state = states_[step];
  const std::int64_t multiple = steps_[step]->part_rows();
  if (multiple > 0 && state.held_bytes >= part_bytes_min) {
    ARROW_RETURN_NOT_OK(complete_part(step, multiple));
    ARROW_RETURN_NOT_OK(run_parts(step, wait_for_parts(step)));
  }
  if (rows->num_rows() == 0 && !state.held.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, arrow::util::ReferencedBufferSize(*rows));
  state.held_bytes += bytes;
  state.held.push_back(rows);
  return arrow::Status::OK();
}

/// As many of the rows that are held as are a multiple of `multiple`. Where parts are cut depends
/// on the rows alone.
arrow::Status StepRun::complete_part(std::size_t step, std::int64_t multiple) {
  State& state = states_[step];
  std::int64_t count = 0;
  for (const auto& rows : state.held) count += rows->num_rows();
  const std::shared_ptr<arrow::RecordBatch> last = state.held.back();
  const auto rest = rest_of_part(count, last->num_rows(), multiple);
  if (!rest) return arrow::Status::OK();
  arrow::RecordBatchVector left;
  if (*rest > 0) {
    state.held.back() = last->Slice(0, last->num_rows() - *rest);
    left.push_back(last->Slice(last->num_rows() - *rest));
  }
  ARROW_ASSIGN_OR_RAISE(auto wholes, joined(std::exchange(state.held, std::move(left)), offsets_max));
  state.held_bytes = 0;
  std::ranges::move(wholes, std::back_inserter(state.parts));
  return arrow::Status::OK();
}

/// While a step behind another one waits, the other one holds a worker that others may need. So it
/// waits only if many rows are there already.
StepWait StepRun::wait_for_parts(std::size_t step) const {
  if (step == first_whole_) return StepWait::until_there;
  std::int64_t bytes = 0;
  for (const auto& rows : states_[step].parts) bytes += batch_bytes(*rows);
  return bytes < parts_bytes_max ? StepWait::not_at_all : StepWait::unless_in_the_way;
}

bool StepRun::await_room(std::size_t step, StepWait wait) {
  const ItemTurn* const turn = ItemTurn::current();
  if (turn == nullptr || !turn->await_room || !steps_[step]->calls()) return true;
  const Stay stay(clock_, ThreadClock::before(first_ + steps_.size()));
  return turn->await_room([this, step] { return steps_[step]->calls().value_or(StepCalls{}); }, wait);
}

/// The parts that get no worker, or for whose rows there is no room, stay.
arrow::Status StepRun::run_parts(std::size_t step, StepWait wait) {
  State& state = states_[step];
  UnitPlace place = place_;
  place.wait = wait;
  for (; !state.parts.empty(); state.parts.pop_front()) {
    std::shared_ptr<arrow::RecordBatch>& rows = state.parts.front();
    const std::int64_t count = rows->num_rows();
    if (count == 0) continue;
    if (!await_room(step, wait)) return arrow::Status::OK();
    place.seed = place_.seed + state.runs * seeds_apart;  // All have other random numbers.
    if (place_.may_be_read_again) place.let_go_input = [&rows] { rows.reset(); };
    const arrow::Status done = run(step, rows, state.rows, place);
    if (is_worker_busy(done)) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(done);
    ++state.runs;
    state.rows += count;
  }
  return arrow::Status::OK();
}

arrow::Status StepRun::run(std::size_t step, const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row,
                           const UnitPlace& place) {
  const std::size_t stage = first_ + step;
  const Stay stay(clock_, ThreadClock::in(stage));
  // The numbers of rows are those of the file up to the first step that leaves some out.
  const auto same = std::find_if(steps_.begin(), steps_.end(), [](const auto& each) { return !each->keeps_rows(); });
  const bool has_place = step <= static_cast<std::size_t>(same - steps_.begin());
  if (clock_ == nullptr && has_place && units_.empty()) {
    return steps_[step]->run(rows, first_row, place, sink_after(step));
  }
  UnitPlace own = place;
  if (!units_.empty()) own.unit_before_union = units_[step];
  if (!has_place) own.place_of_row = nullptr;
  if (clock_ != nullptr) {
    own.on_wait = [this, stage](bool waits) {
      clock_->go(waits ? ThreadClock::idle_in(stage) : ThreadClock::in(stage));
    };
  }
  return steps_[step]->run(rows, first_row, own, sink_after(step));
}

arrow::Status StepRun::finish() {
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    if (!steps_[step]->needs_whole_unit()) continue;
    if (!states_[step].held.empty()) ARROW_RETURN_NOT_OK(complete_part(step, 1));
    ARROW_RETURN_NOT_OK(run_parts(step, StepWait::until_there));
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
