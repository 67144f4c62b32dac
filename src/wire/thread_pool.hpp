#pragma once

#include <headway/result.hpp>

#include <boost/asio.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace headway::wire {

/// Why the system gives no thread, as `std::thread` throws it: `unavailable`; the message names the
/// limits that count.
Error no_thread(const std::system_error& failure);

/// Starts a thread that takes no signals. Errors: no_thread().
Result<std::thread> start_thread(std::function<void()> work);

/// Threads that take no signals, and are fewer than wanted where the system gives no more. (The
/// constructor of asio's own pool hangs there: it joins the threads that it has started, which
/// nobody stops.)
class ThreadPool : public boost::asio::thread_pool {
 public:
  /// Errors: those of start_thread(), when there is no thread at all.
  static Result<std::unique_ptr<ThreadPool>> start(std::size_t wanted);
  /// What has not begun is never done.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Returns when all work is done. A second call does nothing.
  void join();  // NOLINT(bugprone-derived-method-shadowing-base-method): the base's knows no thread.

  std::size_t size() const { return threads_.size(); }

 private:
  ThreadPool() : boost::asio::thread_pool(0) {}

  std::vector<std::thread> threads_;
};

}  // namespace headway::wire
