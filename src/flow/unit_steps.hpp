#pragma once

#include "flow/flow_gauges.hpp"
#include "flow/parallel_stage.hpp"

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headway::flow {

/// A unit within an epoch: what random values may depend on.
struct UnitPlace {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::int64_t unit = 0;
  std::string where;
  bool is_first = false;  ///< In the order in which units are read.
  /// The place of a row that was read, for people. Unset: rows were read that are no more, and
  /// numbers are others.
  std::function<std::string(std::int64_t row)> place_of_row = {};
  /// The unit's number in the data set that the step is about: a union behind the step gives it
  /// another. Unset: `unit`.
  std::optional<std::int64_t> unit_before_union = {};
  /// Called by a step that begins to wait for a worker, and when it has one.
  std::function<void(bool waits)> on_wait = {};
  bool may_be_read_again = false;  ///< The unit.
  bool is_second_attempt = false;  ///< A worker has died while it had the unit.
  /// Frees the rows that the step was called with; it may do so once it holds them in another way.
  /// If they turn out to be needed again, it fails with `input_is_gone`. Unset: they stay.
  std::function<void()> let_go_input = {};
  /// For a worker, and for what another unit decides. A step that would have to wait longer does
  /// nothing and fails with `is_worker_busy`.
  StepWait wait = StepWait::until_there;
};

/// The failure of a step that has let go of rows which it would need again: the unit must be read
/// once more. `is_unused`: nobody has begun with them.
arrow::Status input_is_gone(const arrow::Status& reason, bool is_unused);
bool is_input_gone(const arrow::Status& status);
bool is_input_unused(const arrow::Status& status);

/// The failure of a step that has no worker, and was not to wait for one, or no longer.
arrow::Status worker_is_busy();
bool is_worker_busy(const arrow::Status& status);

/// What a plan does with the rows of one unit, apart from those of other units. Any thread may use
/// a step, for several units at once.
class UnitStep {
 public:
  UnitStep() = default;
  UnitStep(const UnitStep&) = delete;
  UnitStep& operator=(const UnitStep&) = delete;
  virtual ~UnitStep() = default;

  /// Of what it makes of rows with this schema; null: only its first rows show it.
  virtual arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const = 0;

  /// Whether it needs the rows of a unit at once, or as many of them as one batch can have.
  virtual bool needs_whole_unit() const { return false; }

  /// Of a step that needs a whole unit: a large one may come in parts of a multiple of so many
  /// rows. 0: it may not.
  virtual std::int64_t part_rows() const { return 0; }

  /// Whether it makes one row of each.
  virtual bool keeps_rows() const { return false; }

  /// Rows of the unit; `first_row` of them went before. Null: the unit has none (for steps that
  /// need it whole). `place.let_go_input` makes it null.
  virtual arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row,
                            const UnitPlace& place, const ItemSink& sink) const = 0;

  /// Processes that do its work; 0: the threads that call it do.
  virtual int workers() const { return 0; }
  /// Unset: the threads that call it do its work. Returns at once.
  virtual std::optional<StepCalls> calls() const { return std::nullopt; }

  /// Calls under way end soon.
  virtual void stop() const {}
};

/// Pieces as one batch, or as several where a column of text, bytes or lists would have more than
/// `offset_max` bytes. `pieces` have the same columns.
arrow::Result<arrow::RecordBatchVector> joined(const arrow::RecordBatchVector& pieces, std::int64_t offset_max);

/// The rows of a large unit that a step gets at once, about. Beyond it they leave the processor's
/// cache on their way, and the first ones come late.
constexpr std::int64_t part_bytes_min = std::int64_t{8} << 20;

/// A step waits for a worker, if it may, while parts of so many bytes have none.
constexpr std::int64_t parts_bytes_max = 2 * part_bytes_min;

/// How many of the last ones of `rows` stay for the next part, so that this one is a multiple of
/// `multiple`; `last`: those of the last batch, the only one that is cut. Null: there are too few.
inline std::optional<std::int64_t> rest_of_part(std::int64_t rows, std::int64_t last, std::int64_t multiple) {
  const std::int64_t rest = rows % multiple;
  return rest > 0 && last <= rest ? std::nullopt : std::optional(rest);
}

using UnitSteps = std::vector<std::shared_ptr<const UnitStep>>;

/// One unit on its way through the steps.
class StepRun {
 public:
  /// `clock`: of the calling thread; the last stages of its path are the steps. `units`: for each
  /// step `unit_before_union`; empty: there is no union.
  StepRun(const UnitSteps& steps, const UnitPlace& place, const ItemSink& sink, ThreadClock* clock = nullptr,
          std::vector<std::int64_t> units = {});
  StepRun(const StepRun&) = delete;
  StepRun& operator=(const StepRun&) = delete;

  /// Before the first `put`: so many rows of the unit went into the first step before these, in so
  /// many parts.
  void begin_behind(std::int64_t rows, std::uint64_t parts) {
    states_.front().rows = rows;
    states_.front().runs = parts;
  }
  arrow::Status put(const std::shared_ptr<arrow::RecordBatch>& rows) { return put(0, rows); }
  /// The unit has no more rows.
  arrow::Status finish();

 private:
  struct State {
    std::int64_t rows = 0;  ///< That went into the step.
    std::uint64_t runs = 0;
    arrow::RecordBatchVector held;
    std::int64_t held_bytes = 0;
    std::deque<std::shared_ptr<arrow::RecordBatch>> parts;  ///< Complete ones, of the rows before.
  };

  arrow::Status put(std::size_t step, const std::shared_ptr<arrow::RecordBatch>& rows);
  ItemSink sink_after(std::size_t step);
  arrow::Status hold(std::size_t step, const std::shared_ptr<arrow::RecordBatch>& rows);
  arrow::Status complete_part(std::size_t step, std::int64_t multiple);
  StepWait wait_for_parts(std::size_t step) const;
  bool await_room(std::size_t step, StepWait wait);
  arrow::Status run_parts(std::size_t step, StepWait wait);
  arrow::Status run(std::size_t step, const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row,
                    const UnitPlace& place);

  const UnitSteps& steps_;
  UnitPlace place_;
  const ItemSink& sink_;
  const std::vector<std::int64_t> units_;
  std::vector<State> states_;
  ThreadClock* const clock_;
  const std::size_t first_;        ///< The first step in the clock's path.
  const std::size_t first_whole_;  ///< The first step that needs a whole unit.
};

/// The schema after all steps; null when only rows show it.
arrow::Result<std::shared_ptr<arrow::Schema>> schema_after(const UnitSteps& steps,
                                                           std::shared_ptr<arrow::Schema> schema);

}  // namespace headway::flow
