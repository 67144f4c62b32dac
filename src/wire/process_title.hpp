#pragma once

namespace headway::wire {

/// What `ps` and `top` show for this process, such as "headway: rank 1 of run nightly" (the command
/// line) and "headway rank 1" (the name, of which the system keeps 15 characters). The program's
/// arguments in memory stay as they are. Where the system refuses, and in a process with several
/// threads, only the name changes.
void set_process_title(const char* title, const char* name);

}  // namespace headway::wire
