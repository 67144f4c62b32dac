#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace headway::flow {

/// How long a step waits for what it needs.
enum class StepWait {
  until_there,
  /// As long as nobody who is awaited needs what the step's item holds (ItemTurn).
  unless_in_the_way,
  not_at_all,
};

/// Of a step that makes rows in other processes.
struct StepCalls {
  static constexpr std::size_t any_workers = std::numeric_limits<std::size_t>::max();
  std::size_t workers = any_workers;  ///< The most that there may be.
  std::int64_t bytes = -1;            ///< The most that a call has made; -1: none has ended.
  /// The most that one output had; -1: there was none, and no call is done.
  std::int64_t largest = -1;
};

/// An item of a ParallelStage, for what its thread uses. An item may hold what another one needs, a
/// function worker, while its own rows wait to be pulled; and they may be pulled only after those
/// of the other one. Without the two of them knowing it, neither would go on.
struct ItemTurn {
  /// Whether whoever pulls the rows waits for those of this item. Any thread.
  std::atomic<bool> awaited = false;
  /// Whether an item that is awaited needs what this one holds; null: it holds nothing. If so, it
  /// makes the rest of its rows at once, beyond its credit. Of the item's thread.
  std::function<bool()> is_in_the_way = nullptr;
  /// Before a step makes rows by one of its workers: waits until the rows have room. False: they
  /// have none, and `wait` allows no more. Of the item's thread; set by its stage. `calls` returns
  /// at once.
  std::function<bool(const std::function<StepCalls()>& calls, StepWait wait)> await_room = nullptr;

  /// Of the item that this thread works on; null: it works on none.
  static ItemTurn*& current() {
    thread_local ItemTurn* turn = nullptr;
    return turn;
  }
};

/// While it lives, the item of this thread holds something else, too.
class ItemHolds {
 public:
  explicit ItemHolds(std::function<bool()> is_in_the_way) : turn_(ItemTurn::current()) {
    if (turn_ == nullptr) return;
    before_ = turn_->is_in_the_way;
    turn_->is_in_the_way = [before = before_, also = std::move(is_in_the_way)] {
      return also() || (before && before());
    };
  }
  ~ItemHolds() {
    if (turn_ != nullptr) turn_->is_in_the_way = std::move(before_);
  }
  ItemHolds(const ItemHolds&) = delete;
  ItemHolds& operator=(const ItemHolds&) = delete;

 private:
  ItemTurn* const turn_;
  std::function<bool()> before_;
};

}  // namespace headway::flow
