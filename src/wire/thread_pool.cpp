#include "wire/thread_pool.hpp"

#include "core/signals_blocked.hpp"

#include <utility>

namespace headway::wire {

Error no_thread(const std::system_error& failure) {
  return {ErrorKind::unavailable,
          "cannot start a thread: " + failure.code().message() +
              " (the limits that count: ulimit -u, ulimit -v, and the container's number of processes)"};
}

Result<std::thread> start_thread(std::function<void()> work) {
  const SignalsBlocked blocked;
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& failure) {
    return no_thread(failure);
  }
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::start(std::size_t wanted) {
  auto pool = std::unique_ptr<ThreadPool>(new ThreadPool());
  pool->threads_.reserve(wanted);
  while (pool->threads_.size() < wanted) {
    Result<std::thread> thread = start_thread([raw = pool.get()] { raw->attach(); });
    if (!thread && pool->threads_.empty()) return thread.error();
    if (!thread) break;
    pool->threads_.push_back(std::move(*thread));
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  stop();
  join();
}

void ThreadPool::join() {
  boost::asio::thread_pool::join();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace headway::wire
