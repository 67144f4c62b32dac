#include "flow/functions/worker_queue.hpp"

#include <algorithm>
#include <chrono>

namespace headway::flow {

/// So often a call that waits looks whether its item is in the way.
static constexpr auto look_again = std::chrono::milliseconds(100);

bool WorkerQueue::has_awaited() const {
  return std::ranges::any_of(waiting_, [](const ItemTurn* turn) { return turn == nullptr || turn->awaited; });
}

bool WorkerQueue::await(std::unique_lock<std::mutex>& lock, StepWait wait, const std::function<bool()>& may_go,
                        const std::function<void(bool waits)>& on_wait) {
  if (may_go()) return true;
  if (wait == StepWait::not_at_all) return false;
  const ItemTurn* const turn = ItemTurn::current();
  waiting_.push_back(turn);
  if (on_wait) on_wait(true);
  const bool goes = await_turn(lock, wait, may_go);
  if (on_wait) on_wait(false);
  waiting_.erase(std::ranges::find(waiting_, turn));
  changed_.notify_all();  // Others may have given way to this one.
  return goes;
}

/// What the item holds may be a worker of this pool, so that looking at it needs the mutex.
bool WorkerQueue::await_turn(std::unique_lock<std::mutex>& lock, StepWait wait, const std::function<bool()>& may_go) {
  const ItemTurn* const turn = ItemTurn::current();
  const bool looks = wait == StepWait::unless_in_the_way && turn != nullptr && turn->is_in_the_way;
  while (!may_go()) {
    if (!looks) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    const bool is_in_the_way = turn->is_in_the_way();
    lock.lock();
    if (is_in_the_way) return may_go();
    if (!may_go()) changed_.wait_for(lock, look_again);
  }
  return true;
}

}  // namespace headway::flow
