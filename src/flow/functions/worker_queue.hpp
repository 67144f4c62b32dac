#pragma once

#include "flow/item_turn.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace headway::flow {

/// The calls that wait for a worker of a pool, with the pool's mutex held. A call whose rows nobody
/// waits for gives way to one whose rows are awaited.
class WorkerQueue {
 public:
  /// `changed` is notified when a call may go.
  explicit WorkerQueue(std::condition_variable& changed) : changed_(changed) {}

  /// Whether somebody waits whose rows are awaited. Calls that are no item's count.
  bool has_awaited() const;
  bool gives_way(const ItemTurn* turn) const { return turn != nullptr && !turn->awaited && has_awaited(); }

  /// Waits until `may_go`, with `on_wait` (may be unset) called before and behind that. False: it
  /// may not go, and `wait` allows no more.
  bool await(std::unique_lock<std::mutex>& lock, StepWait wait, const std::function<bool()>& may_go,
             const std::function<void(bool waits)>& on_wait);

 private:
  bool await_turn(std::unique_lock<std::mutex>& lock, StepWait wait, const std::function<bool()>& may_go);

  std::condition_variable& changed_;
  std::vector<const ItemTurn*> waiting_;  ///< Null: of no item.
};

}  // namespace headway::flow
