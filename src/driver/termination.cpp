#include "driver/termination.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/eventfd.h>
#include <unistd.h>

namespace headway::driver {
namespace {

std::mutex mutex;
/// The process whose handler this is: a fork inherits it.
std::atomic<pid_t> watched{0};
/// Made once in a process: a handler that is late still finds it.
std::atomic<int> event{-1};
std::atomic<bool> ends_process{false};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_termination(int) {
  if (watched != getpid()) {  // Delivered once this handler has returned.
    std::signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
    return;
  }
  if (ends_process) _exit(terminated_status);
  const int before = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event, &one, sizeof one);
  errno = before;
}

void (*handler())(int) {
  struct sigaction now{};
  sigaction(SIGTERM, nullptr, &now);
  return now.sa_handler;
}

/// Whether a signal came since the last call.
bool take() {
  std::uint64_t count = 0;
  return read(event, &count, sizeof count) > 0;
}

}  // namespace

Termination::Termination(boost::asio::io_context& loop, std::function<void()> heard)
    : event_(loop), heard_(std::move(heard)) {}

Termination::~Termination() { leave(); }

void Termination::watch() {
  const std::lock_guard lock(mutex);
  const bool forked = watched != getpid();
  const auto before = handler();
  const bool inherited = before == on_termination && forked;
  const bool free = before == SIG_DFL || inherited;
  if (event_.is_open() || !free) return;
  if (event < 0 || forked) event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) return;
  watched = getpid();
  ends_process = false;
  take();
  event_.assign(event);
  wait();
  struct sigaction ours{};
  ours.sa_handler = on_termination;
  ours.sa_flags = SA_RESTART;  // The program's other threads are not to notice.
  sigaction(SIGTERM, &ours, nullptr);
}

void Termination::leave() {
  const std::lock_guard lock(mutex);
  if (!event_.is_open()) return;
  if (handler() == on_termination) std::signal(SIGTERM, SIG_DFL);
  event_.release();
  if (take()) kill(getpid(), SIGTERM);
}

void Termination::end_at_next() { ends_process = true; }

void Termination::wait() {
  event_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [weak = std::weak_ptr(self_)](const boost::system::error_code& failure) {
                      const auto self = weak.lock();
                      if (failure || !self || !(*self)->event_.is_open()) return;
                      if (take()) (*self)->heard_();
                      if ((*self)->event_.is_open()) (*self)->wait();
                    });
}

}  // namespace headway::driver
