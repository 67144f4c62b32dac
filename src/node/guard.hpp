#pragma once

#include <csignal>
#include <cstdint>
#include <sys/types.h>

namespace headway::node {

/// The environment variable in which an agent leaves its process's number to its factories, their
/// guards and their workers.
inline constexpr const char* agent_variable = "HEADWAY_AGENT_PID";

/// The process that the variable names; without it, this process's parent.
pid_t agent_of_this_process();

/// Sees to it that nothing of one command (a worker factory) is left behind. For a separate
/// process, with one thread, that does nothing else: it must outlive a driver and a factory that
/// are killed.
///
/// `life_fd` is the reading end of a pipe whose writing end the agent holds. When it closes (the
/// agent is gone, however it went), or when the command ends, or on SIGTERM, or at the last time
/// that was written into the pipe (the end of the agent's lease, as 8 bytes of nanoseconds of
/// CLOCK_BOOTTIME: the agent may be stopped), every descendant is killed, those too that hid in
/// another process session: as child subreaper the guard inherits them. When the agent went without
/// a `farewell`, the empty directories that its runs' ranks worked in are removed, too.
class Guard {
 public:
  /// Written into the pipe instead of a time by an agent that closes it in good order, and so
  /// leaves nothing to be removed.
  static constexpr std::int64_t farewell = -1;

  /// The agent's side: writes a word into the pipe, which takes so few bytes whole. It is full only
  /// when the guard is stopped, and then there is nobody to tell; nor is there when it is dead,
  /// which must not end a program that does not ignore SIGPIPE.
  static void tell(int life_fd, std::int64_t word);

  /// `agent` must be named by whoever starts the guard: an agent that is killed at once has given
  /// this process another parent before it can look.
  Guard(int life_fd, pid_t agent);

  /// fork(2). The child, which becomes the command, has the signals as they were, no `life_fd`, and
  /// is killed when the guard is.
  pid_t fork_command();

  /// Closes every descriptor that is not its own, waits for the end, and ends every descendant.
  /// Returns the command's exit code, or 128 and the signal's number.
  int watch(pid_t command);

 private:
  void remove_what_the_agent_left() const;

  int life_fd_;
  pid_t agent_;
  int signal_fd_ = -1;
  sigset_t old_mask_{};
};

}  // namespace headway::node
