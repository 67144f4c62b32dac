#include "library/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <sys/eventfd.h>
#include <unistd.h>

namespace headway::library {
namespace {

std::mutex mutex;
int objects = 0;
std::atomic<int> event{-1};  ///< Made once: a handler that is late still finds it.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void on_interrupt(int) {
  if (interrupted.exchange(true)) Interrupt::end_program();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event, &one, sizeof one);
}

bool handles_it() {
  struct sigaction now{};
  sigaction(SIGINT, nullptr, &now);
  return now.sa_handler == on_interrupt;
}

}  // namespace

Interrupt::Interrupt() {
  const std::lock_guard lock(mutex);
  if (objects++ > 0) return;
  if (event < 0) event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction now{};
  sigaction(SIGINT, nullptr, &now);
  if (event < 0 || now.sa_handler != SIG_DFL) return;
  interrupted = false;
  struct sigaction ours{};
  ours.sa_handler = on_interrupt;
  ours.sa_flags = SA_RESTART;  // The program's other threads are not to notice.
  sigaction(SIGINT, &ours, nullptr);
}

Interrupt::~Interrupt() {
  const std::lock_guard lock(mutex);
  if (--objects > 0 || !handles_it()) return;
  std::signal(SIGINT, SIG_DFL);
  if (interrupted) end_program();  // It came in the last moment, and is not to be lost.
}

int Interrupt::fd() const { return event; }

bool Interrupt::came() const { return interrupted; }

void Interrupt::end_program() {
  std::signal(SIGINT, SIG_DFL);
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  kill(getpid(), SIGINT);
  // In the handler it is blocked.
  pthread_sigmask(SIG_UNBLOCK, &interrupts, nullptr);
  while (true) pause();
}

}  // namespace headway::library
