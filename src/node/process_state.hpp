#pragma once

#include "core/worker.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

/// What /proc says of other processes.
namespace headway::node {

/// The state's letter in /proc/<pid>/stat; '\0' when there is no such process.
char process_state(pid_t pid);

/// The CPU time that a process has used, in seconds; 0 when there is no such process.
double process_cpu_s(pid_t pid);

/// "stopped (SIGSTOP); `kill -CONT 4711` resumes it" and the like, by the state's letter.
std::string process_state_text(pid_t pid, char state);

/// By a signal: it does nothing until somebody resumes it. What reads a process's stack stops it in
/// another way, for a moment.
bool is_stopped(char state);
/// It has ended, whether or not somebody has reaped it.
bool has_ended(char state);

/// How a process ended that its parent has not reaped. Unset: it lives, is gone, or the system does
/// not show it.
std::optional<ExitStatus> unreaped_status(pid_t pid);

/// All processes below one that have not ended: its children, of all its threads, and theirs.
std::vector<pid_t> living_descendants(pid_t process);

}  // namespace headway::node
