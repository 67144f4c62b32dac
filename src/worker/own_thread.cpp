#include "worker/own_thread.hpp"

#include "wire/thread_pool.hpp"

#include <pthread.h>
#include <unistd.h>

namespace headway::worker {

Result<void> OwnThread::start(const std::string& name, std::function<void()> work) {
  join();
  pid_ = getpid();
  Result<std::thread> started = wire::start_thread([name, work = std::move(work)] {
    pthread_setname_np(pthread_self(), name.c_str());
    work();
  });
  if (!started) return started.error();
  thread_ = std::move(*started);
  return {};
}

void OwnThread::join() {
  if (!thread_.joinable()) return;
  if (getpid() == pid_) {
    thread_.join();
  } else {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): it can be neither joined nor destroyed here.
    new std::thread(std::move(thread_));
  }
}

}  // namespace headway::worker
