// Only the C library: the program headway-guard consists of this file and its main().
#include "node/guard.hpp"

#include "node/lease_clock.hpp"
#include "node/staging_place.hpp"
#include "wire/process_title.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headway::node {
namespace {

/// Kills every child of this process; their orphans become our children in turn.
void kill_children() {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/children", static_cast<int>(getpid()));
  std::FILE* list = std::fopen(path, "re");
  if (list == nullptr) return;
  int pid = 0;
  while (std::fscanf(list, "%d", &pid) == 1) kill(pid, SIGKILL);
  std::fclose(list);
}

/// Until no descendant is left: each round kills the children there are and reaps at least one of
/// them.
void end_descendants() {
  while (true) {
    kill_children();
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

/// Reaps what has ended. True, with its status, when the command is among it.
bool reap(pid_t command, int& command_status) {
  bool ended = false;
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    if (pid != command) continue;
    ended = true;
    command_status = status;
  }
  return ended;
}

/// Between two looks at a process of which the kernel has no descriptor.
constexpr int look_ms = 20;

enum class AgentIs { alive, leaving, gone };

/// Takes the times that are in the pipe; the last one is the end of the lease.
AgentIs read_lease(int life_fd, std::int64_t& lease_end_ns) {
  std::int64_t end_ns = 0;
  while (true) {
    const ssize_t count = read(life_fd, &end_ns, sizeof(end_ns));
    if (count != static_cast<ssize_t>(sizeof(end_ns))) {
      return count < 0 && (errno == EAGAIN || errno == EINTR) ? AgentIs::alive : AgentIs::gone;
    }
    if (end_ns == Guard::farewell) return AgentIs::leaving;
    lease_end_ns = end_ns;
  }
}

/// Milliseconds until then, rounded up; -1: for ever.
int left_ms(std::int64_t lease_end_ns) {
  if (lease_end_ns == 0) return -1;
  const std::int64_t left_ns = lease_end_ns - lease_now().count();
  constexpr std::int64_t hour_ms = 3'600'000;
  return static_cast<int>(std::clamp<std::int64_t>((left_ns + 999'999) / 1'000'000, 0, hour_ms));
}

}  // namespace

pid_t agent_of_this_process() {
  const char* agent = std::getenv(agent_variable);
  return agent != nullptr ? std::atoi(agent) : getppid();
}

Guard::Guard(int life_fd, pid_t agent) : life_fd_(life_fd), agent_(agent) {
  fcntl(life_fd_, F_SETFD, FD_CLOEXEC);
  fcntl(life_fd_, F_SETFL, O_NONBLOCK);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  sigprocmask(SIG_BLOCK, &watched, &old_mask_);
  wire::set_process_title("headway: guard", "headway-guard");
  signal_fd_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

void Guard::tell(int life_fd, std::int64_t word) {
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  if (write(life_fd, &word, sizeof(word)) < 0 && errno == EPIPE && sigismember(&before, SIGPIPE) == 0) {
    const timespec at_once = {};
    sigtimedwait(&broken_pipe, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

pid_t Guard::fork_command() {
  const pid_t guard = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  close(life_fd_);
  close(signal_fd_);
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  // When the guard is the one that was killed. From FactoryServer::serve on the factory asks for
  // SIGTERM instead, and ends its workers before itself.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(1);
  return 0;
}

void Guard::remove_what_the_agent_left() const {
  // It may have closed the pipe before its locks, which tell that a directory is in use: its end
  // closes all.
  constexpr int end_max_ms = 5000;
  const int process = getppid() == agent_ ? static_cast<int>(syscall(SYS_pidfd_open, agent_, 0)) : -1;
  if (process >= 0) {
    pollfd end = {process, POLLIN, 0};
    while (poll(&end, 1, end_max_ms) < 0 && errno == EINTR) {
    }
    close(process);
  } else {
    // A kernel before 5.3 has no descriptor for it: its end gives this process another parent.
    for (int waited_ms = 0; getppid() == agent_ && waited_ms < end_max_ms; waited_ms += look_ms)
      poll(nullptr, 0, look_ms);
  }
  leave_staging(staging_place());
}

int Guard::watch(pid_t command) {
  // The guard must not keep the factory's socket open: its end is how the agent learns of the
  // factory's death.
  for (int fd = 3; fd < 256; ++fd) {
    if (fd != life_fd_ && fd != signal_fd_) close(fd);
  }
  int status = 0;
  std::int64_t lease_end_ns = 0;
  AgentIs agent = AgentIs::alive;
  // A program that has started a thread before it became this guard has somebody else who may take
  // the signal of the command's end.
  const int command_fd = static_cast<int>(syscall(SYS_pidfd_open, command, 0));
  pollfd watch[3] = {{life_fd_, POLLIN, 0}, {signal_fd_, POLLIN, 0}, {command_fd, POLLIN, 0}};
  const auto next_look_ms = [&] {
    const int left = left_ms(lease_end_ns);
    return command_fd >= 0 || (left >= 0 && left < look_ms) ? left : look_ms;
  };
  while (poll(watch, 3, next_look_ms()) >= 0 || errno == EINTR) {
    if (watch[0].revents != 0) agent = read_lease(life_fd_, lease_end_ns);
    if (agent != AgentIs::alive) break;
    if (left_ms(lease_end_ns) == 0) break;
    signalfd_siginfo signal{};
    bool told_to_end = false;
    while (read(signal_fd_, &signal, sizeof(signal)) == sizeof(signal)) {
      if (signal.ssi_signo == SIGTERM) told_to_end = true;
    }
    if (told_to_end || reap(command, status)) break;
  }
  end_descendants();
  if (agent == AgentIs::gone) remove_what_the_agent_left();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace headway::node
