#pragma once

#include <cstddef>
#include <fstream>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace headway {

/// While it lives, this process can start about as many threads, and no more: its memory has an
/// upper limit, and a thread's stack is large (too large for those that the C library keeps).
class ThreadsLeft {
 public:
  explicit ThreadsLeft(std::size_t count) {
    pthread_getattr_default_np(&before_);
    pthread_attr_t large = before_;
    pthread_attr_setstacksize(&large, stack_bytes);
    pthread_setattr_default_np(&large);
    getrlimit(RLIMIT_AS, &limit_);
    rlimit low = limit_;
    low.rlim_cur = used_bytes() + count * stack_bytes + stack_bytes / 2;
    setrlimit(RLIMIT_AS, &low);
  }
  ~ThreadsLeft() {
    setrlimit(RLIMIT_AS, &limit_);
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  ThreadsLeft(const ThreadsLeft&) = delete;
  ThreadsLeft& operator=(const ThreadsLeft&) = delete;

 private:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 30;

  static std::size_t used_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::getpagesize());
  }

  pthread_attr_t before_{};
  rlimit limit_{};
};

}  // namespace headway
