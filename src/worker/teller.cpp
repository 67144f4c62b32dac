#include "worker/teller.hpp"

#include <csignal>
#include <pthread.h>

namespace headway::worker {

Teller::~Teller() {
  if (thread_.joinable()) thread_.detach();  // It may wait for an interpreter's lock that never comes.
}

void Teller::join() {
  if (thread_.joinable()) thread_.join();
}

void Teller::answer(std::function<void()> tell) {
  if (busy_.exchange(true)) return;
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this, tell = std::move(tell)] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    tell();
    busy_ = false;
  });
}

}  // namespace headway::worker
