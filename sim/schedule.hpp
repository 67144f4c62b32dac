#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace headway::sim {

/// The simulated clock and all that will happen, in order of time; what happens at one time happens
/// in the order of its planning.
class Schedule {
 public:
  using Action = std::function<void()>;

  Time now() const { return now_; }
  bool empty() const { return planned_.empty(); }

  void at(Time time, Action action) { planned_.push({std::max(time, now_), planned_so_far_++, std::move(action)}); }
  void after(Duration duration, Action action) { at(now_ + duration, std::move(action)); }

  /// Moves the clock to what comes next and does it; only when there is something.
  void step() {
    // The queue shows its top as constant; moving the action out spares a copy, and the entry is
    // popped at once.
    Entry next = std::move(const_cast<Entry&>(planned_.top()));
    planned_.pop();
    now_ = next.time;
    next.action();
  }

 private:
  struct Entry {
    Time time;
    std::uint64_t order;
    Action action;
    bool operator<(const Entry& other) const { return std::tie(other.time, other.order) < std::tie(time, order); }
  };
  std::priority_queue<Entry> planned_;
  std::uint64_t planned_so_far_ = 0;
  Time now_{};
};

}  // namespace headway::sim
