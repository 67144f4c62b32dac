// headway-guard LIFE_FD COMMAND [ARG...]: runs COMMAND (a worker factory) under node::Guard. The
// agent is the process of HEADWAY_AGENT_PID, else the parent. The exit code is the command's.
#include "node/guard.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: headway-guard LIFE_FD COMMAND [ARG...]\n");
    return 2;
  }
  headway::node::Guard guard(std::atoi(argv[1]), headway::node::agent_of_this_process());
  const pid_t command = guard.fork_command();
  if (command == 0) {
    execvp(argv[2], argv + 2);
    std::fprintf(stderr, "headway-guard: cannot run %s: %s\n", argv[2], std::strerror(errno));
    _exit(127);
  }
  return guard.watch(command);
}
