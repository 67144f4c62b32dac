#pragma once

#include "core/worker.hpp"
#include "wire/frame_bounds.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <variant>

/// What an agent and its worker factory say to each other.
namespace headway::wire {

/// Start a worker. Descriptors: its session socket, the pipe for its output, and one for its errors
/// if they are to be apart.
struct SpawnWorker {
  static constexpr std::string_view is = "SpawnWorker";
  static constexpr FrameBounds bounds = with_fds(3);
  std::int64_t worker_id = 0;
  std::map<std::string, std::string> env;  ///< Set in the worker before user code runs.
};
BOOST_DESCRIBE_STRUCT(SpawnWorker, (), (worker_id, env))

/// Send a signal to a worker and everything in its session. A worker that is gone is no error.
struct SignalWorker {
  static constexpr std::string_view is = "SignalWorker";
  std::int64_t worker_id = 0;
  int signal = 9;
};
BOOST_DESCRIBE_STRUCT(SignalWorker, (), (worker_id, signal))

using ToFactory = std::variant<SpawnWorker, SignalWorker>;

/// The modules are imported; workers can be started.
struct FactoryReady {
  static constexpr std::string_view is = "FactoryReady";
  static constexpr FrameBounds bounds = user_values;
  std::vector<std::string> problems;  ///< Modules that could not be imported, with the reason.
};
BOOST_DESCRIBE_STRUCT(FactoryReady, (), (problems))

struct WorkerSpawned {
  static constexpr std::string_view is = "WorkerSpawned";
  std::int64_t worker_id = 0;
  std::int64_t pid = 0;
  /// Why it could not be forked; empty when it was, or was not meant to be.
  std::string exec_reason;
};
BOOST_DESCRIBE_STRUCT(WorkerSpawned, (), (worker_id, pid, exec_reason))

struct WorkerEnded {
  static constexpr std::string_view is = "WorkerEnded";
  std::int64_t worker_id = 0;
  ExitStatus status;
};
BOOST_DESCRIBE_STRUCT(WorkerEnded, (), (worker_id, status))

using FromFactory = std::variant<FactoryReady, WorkerSpawned, WorkerEnded>;

}  // namespace headway::wire
