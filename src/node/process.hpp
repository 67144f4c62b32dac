#pragma once

#include <headway/result.hpp>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

/// What the system offers about processes, in the few forms that the node needs.
namespace headway::node {

/// A program to be started.
struct ProcessLaunch {
  std::vector<std::string> command;  ///< The program is looked up in PATH.
  /// Added to (or replacing parts of) this process's environment.
  std::map<std::string, std::string> env = {};
  /// Becomes its standard input; -1: empty.
  int input_fd = -1;
  /// Becomes its standard output and error; -1: inherited, output going to error.
  int output_fd = -1;
  /// Becomes its standard error alone; -1: what its output is.
  int error_fd = -1;
  /// Become its descriptors 3, 4, …; everything else close-on-exec is closed.
  std::vector<int> inherited = {};
};

/// Starts it in a new process session, with signals reset. Safe in a process with threads.
/// Errors: `unavailable`, naming the program and the system's reason.
Result<pid_t> launch_process(const ProcessLaunch& launch);

/// The first program of this name in PATH, or the path that the name is; empty: there is none.
std::string program_on_path(const std::string& name);

/// Reaps a child that is about to end, if it ends within the limit. Waits meanwhile. `reap_left`
/// reaps one that has not ended by then.
void reap_within(pid_t child, std::chrono::milliseconds limit);

/// Reaps those of the children that `reap_within` has left that have ended since. Does not wait.
/// Any thread; after a fork, the child has none.
void reap_left();

/// From now on this process is killed when `parent` ends; at once when it has ended already.
void die_with(pid_t parent);

/// Threads of this process, as /proc/self/task lists them.
int count_threads();

std::vector<pid_t> children_of_this_process();

/// The children that a process's main thread has started, oldest first.
std::vector<pid_t> children_of(pid_t process);

/// Lets the agent, and what it starts, look at this process's stacks. Where a process may be read
/// by its ancestors alone (kernel.yama.ptrace_scope=1, as on Ubuntu), a tool that the agent starts
/// is none of them.
void allow_examination();

/// Closes every other descriptor of this process.
void close_descriptors_except(std::vector<int> kept);

}  // namespace headway::node
