#pragma once

#include "core/process_seen.hpp"
#include "core/worker.hpp"
#include "node/machine_use.hpp"
#include "node/worker_source.hpp"
#include "wire/frame.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace headway::node {

struct ForkedFactory;

/// Files that a factory of another machine needs, as one archive.
struct Package {
  std::string hash;            ///< SHA-256 of the bytes, in hex.
  wire::Blob bytes = nullptr;  ///< With the driver alone, which sends them on request.
};
BOOST_DESCRIBE_STRUCT(Package, (), (hash))

/// Which factory starts a worker, beside the modules that it has imported: the node's own, or one
/// of a per-run environment.
struct FactoryChoice {
  std::vector<std::string> command = {};        ///< What starts it; empty: the node's own command.
  std::map<std::string, std::string> env = {};  ///< Its variables beside the node's.
  /// On another machine, in the command's place: what its agent's command for environments is
  /// given. Empty: the command is used there, too.
  std::string recipe = {};
  std::vector<Package> packages = {};  ///< What the recipe needs.

  bool is_nodes_own() const { return command.empty() && env.empty(); }
};
BOOST_DESCRIBE_STRUCT(FactoryChoice, (), (command, env, recipe, packages))

/// A worker to be started on a node.
struct WorkerLaunch {
  std::int64_t worker_id = 0;        ///< Unique in the driver's life.
  std::vector<std::string> preload;  ///< Which factory: the modules that it has imported.
  std::map<std::string, std::string> env;
  std::string log_path;  ///< Empty: none is kept.
  /// Standard error's own; empty: it goes with standard output, in order.
  std::string error_log_path = {};
  FactoryChoice factory = {};
  /// Workers with the same one share a directory for temporary files, which is removed after the
  /// last of them. Empty: there is none.
  std::string scratch = {};
  /// Further variables of a factory, if one is started for this worker. They do not say which
  /// factory it is, and stay in this process.
  std::map<std::string, std::string> new_factory_env = {};
};
BOOST_DESCRIBE_STRUCT(WorkerLaunch, (), (worker_id, preload, env, log_path, error_log_path, factory, scratch))

/// The environment variable that names that directory to a worker, which makes it its TMPDIR.
inline constexpr const char* scratch_variable = "HEADWAY_SCRATCH_DIR";

/// Who wants to know about an agent's workers. Called on the agent's loop, in the order in which
/// things happened: all that a worker said and printed comes before `worker_exited`.
class AgentSink {
 public:
  virtual ~AgentSink() = default;
  /// An error ends the worker's session, and the worker with it.
  virtual Result<void> worker_message(std::int64_t worker_id, wire::Frame frame) = 0;
  virtual void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) = 0;
  /// One line of a worker's output; false stops its output until `resume_output`.
  virtual bool worker_line(std::int64_t worker_id, std::string_view line) = 0;
  /// Something that the user should know, such as why workers are not forked.
  virtual void notice(const std::string& text) = 0;
  /// NodeAgent::use has something new.
  virtual void use_seen() {}
};

/// A worker whose session and output are somebody else's: a guest's. Its own ends of both are
/// handed over.
struct LentWorker {
  std::int64_t worker_id = 0;
  std::vector<std::string> preload;
  std::map<std::string, std::string> env;
  FactoryChoice factory;
  WorkerEnds ends;
  std::function<void(std::int64_t pid)> spawned;
};

/// What a driver asks of one node: its own machine (`Agent`) or another one
/// (`cluster::RemoteAgent`). Used on the driver's loop alone.
class NodeAgent {
 public:
  using Examined = std::function<void(const ProcessSeen& seen)>;

  virtual ~NodeAgent() = default;

  /// Starts a factory for these modules unless there is one, so that it imports while something
  /// else goes on.
  virtual Result<void> warm(const std::vector<std::string>& preload) = 0;

  /// Where factories are children of the driver: one that is taken instead of starting the next, if
  /// it is for the same modules.
  virtual void offer(std::shared_ptr<ForkedFactory>) {}

  /// Takes a worker that is there already, by its session, which hears `first`. Errors:
  /// `unavailable` where every worker is started.
  virtual Result<void> adopt(std::int64_t worker_id, wire::Fd session, wire::Frame first);

  /// Starts a worker and queues `first` as the first thing that its session hears. Errors:
  /// `unavailable` (no descriptors, no processes left); then nothing of it exists. Whatever fails
  /// later is reported by `worker_exited`.
  virtual Result<void> start_worker(const WorkerLaunch& launch, wire::Frame first) = 0;

  /// Starts a worker for a guest on the driver's own machine, and takes its descriptors. Its end
  /// comes as `worker_exited`. Errors: `unavailable`; then it does not.
  virtual Result<void> lend(LentWorker worker);

  virtual void send(std::int64_t worker_id, wire::Frame frame) = 0;
  virtual void signal_worker(std::int64_t worker_id, int signal) = 0;
  virtual void resume_output() = 0;

  /// What a worker is doing (see ProcessExaminer); of one that is not started yet, what its factory
  /// is.
  virtual void examine(std::int64_t worker_id, Examined done) = 0;

  /// How much of the node is in use, as it was seen last; null: nothing is known, at least yet.
  /// Asking has it looked at once more, five seconds after the last time; `use_seen` follows.
  /// `with_gpus`: of its GPUs, from now on.
  virtual const Use* use(bool /*with_gpus*/) { return nullptr; }

  /// All workers end at this time, unless it is put off by another call: the agent of a driver
  /// elsewhere holds a lease.
  virtual void hold_until(LeaseTime) {}

  /// Nobody uses its node any more: an agent of another machine ends by itself.
  virtual void dismiss() {}

  /// Ends everything that the agent has started. `closed` is called on the loop once nothing is
  /// left; then the agent may go. Until then it may give notices, and nothing else.
  virtual void close(std::function<void()> closed);

  /// The guard processes on the driver's own machine. Each ends after all that its factory had
  /// started.
  virtual std::vector<pid_t> guards() const { return {}; }
};

}  // namespace headway::node
