#include "node/factory_start.hpp"

#include "node/guard.hpp"
#include "node/process.hpp"
#include "wire/fork_guard.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headway::node {

Result<ForkedFactory> start_factory(const FactoryConfig& config, const std::vector<std::string>& words,
                                    const std::vector<int>& inherited) {
  // Told here, with its reason; the guard would say it where only this machine's terminal shows it.
  if (const std::string& program = config.command.front(); program.starts_with('/') && access(program.c_str(), X_OK)) {
    return Error{ErrorKind::unavailable,
                 "cannot start a worker factory: " + program + " cannot be run on this node: " + std::strerror(errno)};
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{ErrorKind::unavailable, "cannot make a socket for the worker factory: " + wire::reason_of(errno)};
  }
  ForkedFactory started;
  started.control = wire::Fd(ends[0]);
  const wire::Fd control_of_factory(ends[1]);
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error{ErrorKind::unavailable, "cannot make a pipe for the worker factory: " + wire::reason_of(errno)};
  }
  const wire::Fd life_of_guard(ends[0]);
  started.life = wire::Fd(ends[1]);
  ProcessLaunch launch;
  launch.command = config.command;
  if (!config.guard_path.empty()) {
    launch.command.insert(launch.command.begin(), {config.guard_path, "4"});
    launch.command.push_back("3");
    launch.command.insert(launch.command.end(), words.begin(), words.end());
  }
  launch.env = config.env;
  launch.env[agent_variable] = std::to_string(getpid());
  launch.inherited = {control_of_factory.get(), life_of_guard.get()};
  launch.inherited.insert(launch.inherited.end(), inherited.begin(), inherited.end());
  const Result<pid_t> guard = launch_process(launch);
  if (!guard) return guard.error();
  started.guard_pid = *guard;
  started.is_guard = false;
  wire::drop_in_children(started.life.get());
  return started;
}

void end_untaken(ForkedFactory& forked, const GuardLimits& limits,
                 const std::function<void(const std::string&)>& notice) {
  if (!forked.control.is_open()) return;
  forked.control.close();
  // Else it would wait for this process, which waits for it.
  Guard::tell(forked.life.get(), Guard::farewell);
  wire::keep_in_children(forked.life.get());
  forked.life.close();
  if (!forked.is_guard) kill(-forked.guard_pid, SIGTERM);
  boost::asio::io_context loop;
  await_guard(loop, {forked.guard_pid, "the guard of a worker factory", limits}, notice, nullptr);
  loop.run();
}

}  // namespace headway::node
