#include "worker/own_thread.hpp"

#include <csignal>
#include <pthread.h>
#include <unistd.h>

namespace headway::worker {

void OwnThread::start(const std::string& name, std::function<void()> work) {
  join();
  pid_ = getpid();
  thread_ = std::thread([name, work = std::move(work)] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), name.c_str());
    work();
  });
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
