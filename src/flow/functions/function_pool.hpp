#pragma once

#include "feed/feed_messages.hpp"
#include "flow/functions/function_desk.hpp"
#include "flow/functions/function_host.hpp"
#include "flow/item_turn.hpp"
#include "flow/raise_to.hpp"

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Python functions over batches, in processes. The executor makes one pool for each function of a
/// plan, and calls `process` from its threads.
namespace headway::flow {

/// One Python function, as a worker calls it.
struct FunctionCall {
  std::string kind;  ///< "map_batches", "map", "flat_map", "filter", "map_groups", "source".
  /// cloudpickle of function and arguments, as python/headway/data/_functions.py makes it.
  std::string pickled;
  std::optional<std::int64_t> batch_size;  ///< Unset: a unit is one batch.
  std::string batch_format = "numpy";      ///< "numpy", "pandas", "pyarrow".
  std::vector<std::string> keys;           ///< Of map_groups: runs of equal keys are groups.
};

/// What a plan says of Python functions that the same workers call, each on what the one before it
/// returns.
struct FunctionSpec {
  std::string name;  ///< For messages, and before printed lines: "map_batches(scale)".
  std::vector<FunctionCall> calls;
  int workers_min = 1;  ///< Started with the pool.
  /// Started as callers wait; 0: one a core, and those of other nodes.
  int workers_max = 0;
  feed::OtherNodes other_nodes = feed::OtherNodes::never;
  double num_gpus = 0;                   ///< What each worker gets of this machine's.
  std::shared_ptr<arrow::Schema> input;  ///< Null for a source.
  /// Equal functions that work at the same time have other numbers, and so workers apart.
  int copy = 0;
};

/// `StepCalls::workers` of a step of it.
inline std::size_t step_workers(const FunctionSpec& spec) {
  return spec.workers_max == 0 ? StepCalls::any_workers : static_cast<std::size_t>(spec.workers_max);
}

/// One unit on its way through a function.
struct FunctionWork {
  std::uint64_t seed = 0;  ///< Of the plan; with epoch and unit it seeds the worker's generators.
  std::int64_t epoch = 0;
  std::int64_t unit = 0;       ///< A source is called with it.
  std::string where;           ///< File and rows, for errors.
  std::int64_t first_row = 0;  ///< So many rows of the unit came before, in other calls.
  /// Who gives the rows: a step of a plan. Outputs for rows of one giver have one schema.
  std::string giver = {};
  /// The output of this call fixes the schema that all outputs of the giver have. Calls that run
  /// beside it wait for that. At most one call of a giver has it. Without one the first output
  /// decides.
  bool decides_schema = false;
  /// Whose outputs have one type each column: of one plan that runs. Where an output does not fit,
  /// but a wider type has the values of all, `process` fails with `is_schema_widened`, and those of
  /// owners that come later have that type. Null: outputs that do not fit are errors.
  const void* owner = nullptr;
  /// Called when the call begins to wait for a free worker, and when it has one.
  std::function<void(bool waits)> on_wait = {};
  /// Frees the input, which is null then. Called when a worker of this machine has a large one in
  /// its memory; `process` fails with `input_is_gone` if that worker dies. Unset: it stays.
  std::function<void()> let_go_input = {};
  /// A worker has died while it had the unit.
  bool is_second = false;
  /// For a worker, and for the schema that another call decides. The call fails with
  /// `is_worker_busy` where it would have to wait longer.
  StepWait wait = StepWait::until_there;
};

/// Takes one output. Its memory is the worker's until the batch is let go; the next output is made
/// meanwhile. An error ends the call, which returns it.
using FunctionSink = std::function<arrow::Status(std::shared_ptr<arrow::RecordBatch>)>;

/// A failure within a user's function, as the detail of a Status.
class UserFailure : public arrow::StatusDetail {
 public:
  const char* type_id() const override { return "headway::UserFailure"; }
  std::string ToString() const override { return message; }
  /// Null when `status` has another reason.
  static std::shared_ptr<const UserFailure> of(const arrow::Status& status);

  std::string type;       ///< The exception's class.
  std::string message;    ///< Function, class, words, file and rows.
  std::string traceback;  ///< The user's frames.
  std::string pickled;    ///< The exception; empty when it cannot be pickled.
  std::string where;      ///< File and rows.
};

/// The workers of a spec. Any thread may call its functions.
class FunctionPool {
 public:
  /// Starts the first workers without waiting for them. Errors: the host cannot be started. At the
  /// desk, if there is one, workers of other nodes come in, where the spec has them.
  static arrow::Result<std::shared_ptr<FunctionPool>> open(std::shared_ptr<FunctionHost> host, FunctionSpec spec,
                                                           std::shared_ptr<FunctionDesk> desk = nullptr);

  FunctionPool(const FunctionPool&) = delete;
  FunctionPool& operator=(const FunctionPool&) = delete;
  /// Ends the workers. Outputs may outlive it.
  ~FunctionPool();

  /// Calls the function on a unit (null for a source), and `sink` with each output, in order. Waits
  /// for a free worker, starting one if fewer than the maximum run. If the worker dies, a new one
  /// of this machine does the unit again; outputs that `sink` has had are not repeated. Errors:
  /// UserFailure; the second death of a worker of this machine (without that of a worker that had
  /// not read the unit: UnitAttempts); an output that does not fit the schema of the first;
  /// `sink`'s own; Cancelled after `stop`.
  arrow::Status process(const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input,
                        const FunctionSink& sink, const void* caller = nullptr);

  /// Calls of `caller` that are under way, and later ones, return Cancelled. Workers in the middle
  /// of a unit end; others stay for other callers.
  void stop_caller(const void* caller);
  /// The caller, or owner, is no more.
  void forget_caller(const void* caller);

  /// Of all outputs of this owner, for rows of this giver; null before the first.
  std::shared_ptr<arrow::Schema> schema(const std::string& giver, const void* owner) const;

  /// An output had so many bytes.
  void has_made(std::int64_t bytes) { raise_to(largest_output_, bytes); }
  /// All outputs of a call had.
  void has_done_call(std::int64_t bytes) {
    raise_to(largest_call_, bytes);
    has_made(0);  // There may have been none.
  }
  /// Those of all callers so far. Returns at once.
  StepCalls calls() const;

  /// The desk has one more worker, or one less.
  void desk_changed();

  int workers() const;              ///< That run now.
  std::int64_t slot_bytes() const;  ///< Memory shared with workers, input and outputs.

  /// Kills the workers; calls under way and later ones return Cancelled.
  void stop();

 private:
  class State;
  explicit FunctionPool(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  std::atomic<std::int64_t> largest_call_ = -1;
  std::atomic<std::int64_t> largest_output_ = -1;
};

}  // namespace headway::flow
