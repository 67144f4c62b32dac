#include "wire/fork_guard.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace headway::wire {
namespace {

constexpr int fds_max = 65536;
// Indexed by descriptor: a forked child may only touch async-signal-safe things, so no lock and no
// container.
std::array<std::atomic<bool>, fds_max> dropped{};
std::atomic<int> highest{-1};

void close_dropped() {
  for (int fd = 0; fd <= highest.load(std::memory_order_relaxed); ++fd) {
    if (dropped[fd].exchange(false, std::memory_order_relaxed)) ::close(fd);
  }
  highest.store(-1, std::memory_order_relaxed);
}

}  // namespace

void drop_in_children(int fd) {
  static std::once_flag registered;
  std::call_once(registered, [] { pthread_atfork(nullptr, nullptr, close_dropped); });
  if (fd < 0 || fd >= fds_max) return;
  dropped[fd].store(true);
  int seen = highest.load();
  while (seen < fd && !highest.compare_exchange_weak(seen, fd)) {
  }
}

void keep_in_children(int fd) {
  if (fd >= 0 && fd < fds_max) dropped[fd].store(false);
}

}  // namespace headway::wire
