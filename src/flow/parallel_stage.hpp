#pragma once

#include "flow/demand.hpp"
#include "flow/errored_units.hpp"
#include "flow/item_turn.hpp"
#include "flow/stage.hpp"
#include "flow/stage_gauge.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headway::flow {

/// Takes rows that an item has made; false: nobody wants more.
using ItemSink = std::function<arrow::Status(std::shared_ptr<arrow::RecordBatch>)>;

/// What one thread does at a time: reads one unit and passes its rows on.
struct Item {
  std::function<arrow::Status(const ItemSink&)> work;
  std::string where;       ///< For errors; empty: errors name it already.
  std::int64_t bytes = 0;  ///< Memory that its rows will take; known beforehand or estimated.
  std::int64_t window = 0;
  std::int64_t unit = 0;
  bool ends_unit = true;  ///< No item of the same unit comes behind it.
  /// Its rows come at once, so that nobody is woken for each.
  bool is_quick = false;
};

/// Hands out items in the order in which their rows are wanted. One thread calls it.
using NextItem = std::function<arrow::Result<std::optional<Item>>()>;

/// Threads beyond a limit, which as a rule wait for other nodes.
struct OtherThreads {
  /// How many there may be now; as many items more may be under way. Unset: none.
  std::function<std::size_t()> count = nullptr;
  /// Has `changed` called by any thread when that is another number; null: `who` hears no more.
  std::function<void(const void* who, std::function<void()> changed)> tell = nullptr;
};

struct ParallelLimits {
  std::size_t threads = 1;
  /// How many items may be under way or wait for those before them.
  std::size_t items_ahead = 4;
  /// Until it is there, one item at a time is under way. Null: it is there.
  std::shared_ptr<Demand> demand = nullptr;
  OtherThreads others = {};
  /// Items hold rows before they begin: none is asked for where it may have to wait for memory.
  bool items_hold_rows = false;
  /// Called once, by any thread, when no item is left for a thread that has none, and no item has
  /// failed. May be unset. Does not wait.
  std::function<void()> on_idle = nullptr;
  /// Which items may fail; the rows that one has made before stay. Null: none.
  std::shared_ptr<ErroredUnits> errored = nullptr;
  /// So long an item at most waits to know how large a step's outputs are.
  std::chrono::milliseconds sizes_wait = std::chrono::seconds(10);
};

/// Works on several items at once, and passes their rows on in the order of the items.
///
/// An item begins when the budget has credit for it; one is under way whenever a client needs rows,
/// so that the flow moves whatever other flows hold. An item that makes more than its credit waits
/// until the budget has more, or somebody waits for its rows and none are there; or while it is in
/// the way of an item that somebody waits for (ItemTurn). So that the latter is rare, items behind
/// the first one call a step with few workers only with room and credit for as much as a call has
/// ever made. A step that makes large rows is called only with credit for two of its outputs: while
/// it makes one, the one is in the memory of its worker, and in the memory that the worker shares.
/// Later items ask for as much as earlier ones needed.
class ParallelStage : public Stage {
 public:
  ParallelStage(Budget& budget, ParallelLimits limits, std::shared_ptr<arrow::Schema> schema, NextItem next_item,
                std::function<void()> on_stop = nullptr);
  ~ParallelStage() override;

  /// Counts what its threads wait for, and the credit of its rows, for the first one. Before the
  /// first `next`.
  void count_in(std::vector<std::shared_ptr<StageGauge>> gauges) { gauges_ = std::move(gauges); }

  arrow::Result<std::optional<Chunk>> next() override;
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  void stop() override;

 private:
  struct Waiting {
    std::shared_ptr<arrow::RecordBatch> rows;
    std::int64_t bytes = 0;
  };

  /// An item that was begun, with its rows that were not pulled yet.
  struct Running {
    Item item;
    ItemTurn turn;
    std::shared_ptr<Credit> credit;
    std::deque<Waiting> rows;
    std::int64_t bytes_waiting = 0;
    bool taken = false;  ///< By a thread.
    bool done = false;
    arrow::Status status;
  };

  std::size_t items_ahead() const;
  std::size_t others() const { return limits_.others.count ? limits_.others.count() : 0; }
  arrow::Status begin_items();
  arrow::Status begin_all_items();
  bool is_full_of_large_rows();
  bool looks_for_last() const;
  void idle_for(std::optional<StageGauge::Doing> reason);
  void count_idle();
  std::shared_ptr<Credit> counted(Credit credit) const;
  /// Whether more items wait for a thread than threads for an item.
  bool lacks_thread() const;
  void start_thread();
  void work();
  void tell_if_idle();
  arrow::Status put(Running& running, std::shared_ptr<arrow::RecordBatch> rows);
  static bool has_room(const Running& running, std::int64_t bytes);
  bool await_room(Running& running, const std::function<StepCalls()>& calls, StepWait wait);
  bool await_sizes(std::unique_lock<std::mutex>& lock, const Running& running, const std::function<StepCalls()>& calls);
  static bool is_in_the_way(std::unique_lock<std::mutex>& lock, const Running& running);
  bool is_first(const Running& running) const { return running_.front().get() == &running; }
  bool has_credit(Running& running, std::int64_t bytes, bool in_any_case = false);
  bool await(std::unique_lock<std::mutex>& lock, const Running& running, const std::function<bool()>& may_go);
  std::optional<std::int64_t> bytes_of_next();
  void wait_for_need();
  arrow::Result<std::shared_ptr<Running>> await_front();
  Chunk chunk_of(const Running& front, std::shared_ptr<arrow::RecordBatch> rows, bool last);

  Budget& budget_;
  const ParallelLimits limits_;
  const std::shared_ptr<arrow::Schema> schema_;
  const NextItem next_item_;
  const std::function<void()> on_stop_;

  std::optional<Item> waiting_;     ///< The next item, which had no credit yet.
  std::int64_t needed_ = 0;         ///< The most that an item has had waiting.
  std::size_t without_credit_ = 0;  ///< Items whose rows are made, and wait for credit.
  std::size_t without_sizes_ = 0;   ///< Items that wait to know how large rows are.
  bool no_more_items_ = false;      ///< Set with the mutex held, by the one that pulls.

  std::mutex mutex_;
  std::condition_variable something_to_do_;  ///< For threads.
  std::condition_variable rows_came_;        ///< For the one that pulls.
  std::condition_variable rows_left_;        ///< For items whose rows wait.
  std::deque<std::shared_ptr<Running>> running_;
  bool stopped_ = false;
  bool limits_changed_ = false;
  bool told_idle_ = false;  ///< `on_idle` was called.
  std::size_t idle_ = 0;
  std::optional<StageGauge::Doing> idle_for_;  ///< Why threads have no item; unset: none is left.
  SteadyTime idle_since_{};                    ///< That is counted.
  std::vector<std::thread> threads_;
  std::vector<std::shared_ptr<StageGauge>> gauges_;
};

}  // namespace headway::flow
