#include "library/stack_report.hpp"

#include "library/signal_frames.hpp"
#include "library/symbol_name.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <semaphore.h>
#include <span>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace headway::library {
namespace {

constexpr int asking_signal = SIGURG;
constexpr std::size_t threads_max = 6;
constexpr std::size_t frames_max = 40;
constexpr std::size_t handler_frames_max = 8;
constexpr int answer_limit_s = 1;

/// Where one thread leaves its frames. One that never answered keeps its slot: it may still.
struct Slot {
  std::atomic<pid_t> asked{0};
  std::atomic<bool> answered{false};
  std::array<void*, frames_max + handler_frames_max> frames{};
  int count = 0;
};

std::array<Slot, threads_max> slots;
sem_t answers;
bool prepared = false;

void answer(int, siginfo_t*, void* context) {
  const int error = errno;
  const pid_t self = gettid();
  for (Slot& slot : slots) {
    if (slot.asked != self || slot.answered) continue;
    slot.count = frames_at_signal(context, slot.frames);
    slot.answered = true;
    sem_post(&answers);
  }
  errno = error;
}

std::string name_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

/// All but the one that asks and Headway's own, the main one first.
std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::stoi(entry.path().filename().string());
    if (thread != gettid() && name_of(thread) != "headway-session") threads.push_back(thread);
  }
  std::sort(threads.begin(), threads.end());
  std::stable_partition(threads.begin(), threads.end(), [](pid_t thread) { return thread == getpid(); });
  return threads;
}

std::string text_of(pid_t thread, const Slot& slot) {
  const bool is_main = thread == getpid();
  std::string text = is_main ? "main thread" : "thread " + std::to_string(thread) + " (" + name_of(thread) + ")";
  if (slot.asked != thread || !slot.answered) return text + ": it gives no answer\n";
  text += ", innermost frame first:\n";
  const std::span frames(slot.frames.data(), static_cast<std::size_t>(slot.count));
  const std::size_t end = is_main ? frames_of_loop(frames) : frames.size();
  for (std::size_t i = 0; i < end && i < frames_max; ++i) {
    // The first one is no return address, and is looked up as it is.
    const void* address = i == 0 ? static_cast<const char*>(slot.frames[i]) + 1 : slot.frames[i];
    text += "  " + symbol_name(address) + "\n";
  }
  return text;
}

/// A thread of a library that has nothing of the program in its frames (Gloo has some) does not
/// show what the program waits for.
bool is_worth_showing(pid_t thread, const Slot& slot) {
  const bool seen = slot.asked == thread && slot.answered;
  if (thread == getpid() || !seen) return true;
  const std::span frames(slot.frames.data(), static_cast<std::size_t>(slot.count));
  return std::any_of(frames.begin(), frames.end(), in_program);
}

/// Returns whether the thread was asked.
bool ask(Slot& slot, pid_t thread) {
  if (slot.asked != 0 && !slot.answered) return false;
  slot.answered = false;
  slot.asked = thread;
  return syscall(SYS_tgkill, getpid(), thread, asking_signal) == 0;
}

}  // namespace

void prepare_stacks() {
  struct sigaction before{};
  sigaction(asking_signal, nullptr, &before);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return;
  prepare_frames();
  sem_init(&answers, 0, 0);
  struct sigaction ours{};
  ours.sa_sigaction = answer;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigaction(asking_signal, &ours, nullptr);
  prepared = true;
}

std::string stacks_of_threads() {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (!prepared) return "its stack is not shown: the program handles SIGURG itself\n";
  const std::vector<pid_t> threads = threads_of_process();
  const std::size_t count = std::min(threads.size(), threads_max);
  int open = 0;
  for (std::size_t i = 0; i < count; ++i) open += ask(slots[i], threads[i]) ? 1 : 0;
  timespec limit{};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += answer_limit_s;
  while (open > 0 && (sem_timedwait(&answers, &limit) == 0 || errno == EINTR)) {
    open = static_cast<int>(std::count_if(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(count),
                                          [](const Slot& slot) { return slot.asked != 0 && !slot.answered; }));
  }
  std::string text;
  std::size_t hidden = threads.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_worth_showing(threads[i], slots[i])) {
      text += text_of(threads[i], slots[i]);
    } else {
      ++hidden;
    }
  }
  if (hidden > 0) text += "and " + std::to_string(hidden) + (hidden == 1 ? " more thread\n" : " more threads\n");
  return text;
}

}  // namespace headway::library
