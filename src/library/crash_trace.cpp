#include "library/crash_trace.hpp"

#include "library/signal_frames.hpp"
#include "library/symbol_name.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <span>
#include <string>
#include <unistd.h>

namespace headway::library {
namespace {

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int frames_max = 64;
/// The driver tells the last 20 lines of a worker that has died.
constexpr std::size_t told_max = 15;
/// Names are looked up with memory that the crash may have broken; after so many seconds the
/// process ends without them.
constexpr unsigned limit_s = 5;

std::atomic<int> crashed_by{0};
alignas(16) std::array<char, 65536> other_stack;  ///< For a stack that has overflowed.

void tell(const std::string& text) {
  for (std::size_t told = 0; told < text.size();) {
    const ssize_t written = write(STDERR_FILENO, text.data() + told, text.size() - told);
    if (written <= 0) return;
    told += static_cast<std::size_t>(written);
  }
}

void tell_frames(const void* context) {
  std::array<void*, frames_max> frames{};
  const std::span seen(frames.data(), static_cast<std::size_t>(frames_at_signal(context, frames)));
  const std::size_t count = gettid() == getpid() ? frames_of_loop(seen) : seen.size();
  const std::span told = seen.first(std::min(count, told_max));
  tell("Backtrace (innermost first):\n");
  for (std::size_t i = 0; i < told.size(); ++i) {
    const void* frame = told[i];
    // The first one is no return address, and is looked up as it is.
    tell("  #" + std::to_string(i) + " " + symbol_name(i == 0 ? static_cast<const char*>(frame) + 1 : frame) + "\n");
  }
  tell(source_lines_command(told, true));
}

void end_by(int) {
  std::signal(crashed_by, SIG_DFL);
  raise(crashed_by);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
}

/// Much of what it does is not allowed in a handler of signals, where it may hang or crash again:
/// the alarm and the system's own way of ending the process stand behind it.
void on_crash(int signal, siginfo_t*, void* context) {
  for (const int each : crashes) std::signal(each, SIG_DFL);
  int none = 0;
  // Another thread has; it ends the process.
  while (!crashed_by.compare_exchange_strong(none, signal)) pause();
  std::signal(SIGALRM, end_by);
  alarm(limit_s);
  tell_frames(context);
  raise(
      // Blocked until this handler returns. The instruction alone would not do: the signal may have
      // been sent.
      signal);
}

}  // namespace

void tell_crashes() {
  prepare_frames();
  const stack_t stack{other_stack.data(), 0, other_stack.size()};
  sigaltstack(&stack, nullptr);
  for (const int each : crashes) {
    struct sigaction before{};
    sigaction(each, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;
    struct sigaction ours{};
    ours.sa_sigaction = on_crash;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(each, &ours, nullptr);
  }
}

}  // namespace headway::library
