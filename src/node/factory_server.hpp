#pragma once

#include "node/worker_source.hpp"

#include <headway/result.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace headway::node {

/// What a language's runtime must do for the factory.
struct FactoryHooks {
  /// fork(2) with the runtime's own preparations around it (Python: PyOS_BeforeFork and its kin).
  std::function<pid_t()> fork;
  /// The command line that starts a worker as a new process; the numbers of the session's
  /// descriptor and of the factory's process are appended.
  std::vector<std::string> exec_command;
  /// Start every worker by exec, not only those that can't be forked.
  bool always_exec = false;
  /// Nothing is appended to the command, for a program that is entered again with the arguments
  /// that it had: the session's descriptor is 3.
  bool exec_as_is = false;
};

/// What a forked child finds when `serve` returns in it.
struct ForkedWorker {
  wire::Fd session;
  std::map<std::string, std::string> env;  ///< To be set by the runtime, before user code runs.
};

/// The worker factory: a process with the heavy modules imported, one thread and no GPU touched,
/// that forks workers when told. Everything that its workers start, and that outlives them, is
/// reparented to it and killed by it.
class FactoryServer {
 public:
  /// `control`: the socket to the agent.
  FactoryServer(wire::Fd control, FactoryHooks hooks);

  /// Tells the agent that workers can be started; `problems` are modules that could not be
  /// imported.
  Result<void> announce(const std::vector<std::string>& problems);

  /// Serves until the agent closes the socket or SIGTERM comes; then every descendant has been
  /// killed, and nullopt returns. In each forked worker it returns too, with what the worker needs.
  std::optional<ForkedWorker> serve();

 private:
  struct Spawned {
    pid_t pid = 0;
    std::string exec_reason;
  };

  std::optional<ForkedWorker> handle_frame();
  std::optional<ForkedWorker> give_up(const std::string& why);
  std::optional<ForkedWorker> spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env,
                                    WorkerEnds ends);
  pid_t spawn_by_exec(const std::map<std::string, std::string>& env, const WorkerEnds& ends);
  /// The session's descriptor; all others are closed.
  wire::Fd become_worker(WorkerEnds ends);
  void signal_worker(std::int64_t worker_id, int signal);
  void reap();
  void kill_strays();
  void end_descendants();

  wire::Fd control_;
  wire::Fd signals_;
  pid_t factory_pid_ = 0;
  FactoryHooks hooks_;
  bool done_ = false;
  std::map<pid_t, std::int64_t> workers_;  ///< pid → worker id.
};

}  // namespace headway::node
