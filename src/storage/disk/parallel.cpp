#include "storage/disk/parallel.hpp"

#include "core/signals_blocked.hpp"
#include "storage/outage.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace headway::storage {

namespace {

/// Which index is next, and the lowest that failed.
class Share {
 public:
  explicit Share(std::size_t count) : count_(count) {}

  void run(const std::function<Result<void>(std::size_t)>& task) {
    for (;;) {
      if (failed_.load(std::memory_order_relaxed)) return;
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      Result<void> done = guarded(task, index);
      if (!done) keep(index, done.error());
    }
  }

  Result<void> outcome() const { return error_ ? Result<void>(*error_) : Result<void>(); }

 private:
  static Result<void> guarded(const std::function<Result<void>(std::size_t)>& task, std::size_t index) {
    try {
      return task(index);
    } catch (const std::exception& thrown) {
      return Error{ErrorKind::unavailable, std::string("storage task failed: ") + thrown.what()};
    }
  }

  void keep(std::size_t index, const Error& error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_ || index < index_) {
      error_ = error;
      index_ = index;
    }
    failed_ = true;
  }

  const std::size_t count_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
  std::size_t index_ = 0;
};

}  // namespace

Result<void> parallel_for(std::size_t count, std::size_t threads_max,
                          const std::function<Result<void>(std::size_t)>& task) {
  Share share(count);
  std::vector<std::thread> threads;
  if (count > 1) {
    const SignalsBlocked blocked;
    std::size_t wanted = std::min(count, threads_max) - 1;
    while (threads.size() < wanted) {
      try {
        threads.emplace_back([&, outage = Outage::current()] {
          const Outage::Scope scope(outage);
          share.run(task);
        });
      } catch (const std::system_error&) {
        // No more are to be had: those that started, and this one, do the work.
        wanted = threads.size();
      }
    }
  }
  share.run(task);
  for (std::thread& thread : threads) thread.join();
  return share.outcome();
}

}  // namespace headway::storage
