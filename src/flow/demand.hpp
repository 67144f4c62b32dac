#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace headway::flow {

/// Whether anybody wants rows yet: an epoch may be opened ahead of its clients. Any thread may call
/// it, unless said otherwise.
class Demand {
 public:
  explicit Demand(bool is_there) : is_there_(is_there) {}

  bool is_there() const {
    const std::lock_guard lock(mutex_);
    return is_there_;
  }

  /// Somebody wants rows from now on.
  void come() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_there_, true)) return;
    for (const auto& [who, listener] : listeners_) listener();
  }

  /// Waits until a client needs rows that were not dealt yet: while memory is full, nothing else is
  /// read. Returns at once where nobody has said how. The thread that pulls the rows.
  void wait_for_need() const {
    if (wait_for_need_) wait_for_need_();
  }
  /// How that is waited for; before rows are pulled.
  void set_wait_for_need(std::function<void()> wait) { wait_for_need_ = std::move(wait); }

  /// Has `came` called when the demand comes, by any thread; null: `who` hears no more. `came` does
  /// not call back.
  void tell(const void* who, std::function<void()> came) {
    const std::lock_guard lock(mutex_);
    if (came)
      listeners_[who] = std::move(came);
    else
      listeners_.erase(who);
  }

 private:
  mutable std::mutex mutex_;
  bool is_there_;
  std::function<void()> wait_for_need_;
  std::map<const void*, std::function<void()>> listeners_;
};

}  // namespace headway::flow
