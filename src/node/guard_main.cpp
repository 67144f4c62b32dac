// headway-guard LIFE_FD COMMAND [ARG...]: runs COMMAND (a worker factory) and sees to it that nothing of it is left behind.
//
// LIFE_FD is the reading end of a pipe whose writing end the agent holds. When it closes (the agent is gone, however it went), or
// when the command ends, or on SIGTERM, or at the last time that was written into the pipe (the end of the agent's lease, as 8
// bytes of nanoseconds of CLOCK_BOOTTIME: the agent may be stopped), every descendant is killed, those too that hid in a session of their own: as child
// subreaper the guard inherits them. The exit code is the command's.

#include "node/lease_clock.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// Until no descendant is left: each round kills the children there are and reaps at least one of them.
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

/// Takes the times that are in the pipe; the last one is the end of the lease. False when the agent is gone.
bool read_lease(int life_fd, std::int64_t& lease_end_ns) {
  std::int64_t end_ns = 0;
  while (true) {
    const ssize_t count = read(life_fd, &end_ns, sizeof(end_ns));
    if (count == static_cast<ssize_t>(sizeof(end_ns))) {
      lease_end_ns = end_ns;
    } else {
      return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
  }
}

/// Milliseconds until then, rounded up; -1: for ever.
int left_ms(std::int64_t lease_end_ns) {
  if (lease_end_ns == 0) return -1;
  const std::int64_t left_ns = lease_end_ns - headway::node::lease_now().count();
  constexpr std::int64_t hour_ms = 3'600'000;
  return static_cast<int>(std::clamp<std::int64_t>((left_ns + 999'999) / 1'000'000, 0, hour_ms));
}

pid_t start(char** command, int life_fd, const sigset_t& old_mask) {
  const pid_t guard = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  close(life_fd);
  sigprocmask(SIG_SETMASK, &old_mask, nullptr);
  // When the guard is the one that was killed. From FactoryServer::serve on the factory asks for SIGTERM instead, and ends its
  // workers before itself.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(1);
  execvp(command[0], command);
  std::fprintf(stderr, "headway-guard: cannot run %s: %s\n", command[0], std::strerror(errno));
  _exit(127);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: headway-guard LIFE_FD COMMAND [ARG...]\n");
    return 2;
  }
  const int life_fd = std::atoi(argv[1]);
  fcntl(life_fd, F_SETFD, FD_CLOEXEC);
  fcntl(life_fd, F_SETFL, O_NONBLOCK);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t watched;
  sigset_t old_mask;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  sigprocmask(SIG_BLOCK, &watched, &old_mask);
  const int signals = signalfd(-1, &watched, SFD_CLOEXEC);
  const pid_t command = start(argv + 2, life_fd, old_mask);
  // The guard must not keep the factory's socket open: its end is how the agent learns of the factory's death.
  for (int fd = 3; fd < 256; ++fd) {
    if (fd != life_fd && fd != signals) close(fd);
  }
  int status = 0;
  std::int64_t lease_end_ns = 0;
  pollfd watch[2] = {{life_fd, POLLIN, 0}, {signals, POLLIN, 0}};
  while (poll(watch, 2, left_ms(lease_end_ns)) >= 0 || errno == EINTR) {
    if (watch[0].revents != 0 && !read_lease(life_fd, lease_end_ns)) break;
    if (left_ms(lease_end_ns) == 0) break;
    if (watch[1].revents == 0) continue;
    signalfd_siginfo signal{};
    if (read(signals, &signal, sizeof(signal)) != sizeof(signal)) continue;
    if (signal.ssi_signo == SIGTERM || reap(command, status)) break;
  }
  end_descendants();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
