#pragma once

#include "core/worker.hpp"
#include "node/node_agent.hpp"
#include "wire/session_messages.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::driver {

class Run;
class Runtime;

/// The processes that bring what ranks on other machines wrote into their working directory to the run's artifacts/: one a machine,
/// forked by the factory that its ranks come from, from the first copy to the run's end. Decides nothing; lives on the driver's loop.
class ArtifactCarriers {
 public:
  /// The error of the first machine that had one.
  using Done = std::function<void(std::optional<std::string> error)>;

  ArtifactCarriers(Runtime& runtime, std::vector<std::string> preload, node::FactoryChoice factory)
      : runtime_(&runtime), preload_(std::move(preload)), factory_(std::move(factory)) {}

  /// A rank works there; the driver's own machine is left out.
  void note(const Slot& slot);

  /// Has each machine bring what is new; `start` says what their processes are. `run` hears of these workers, and passes that on to the
  /// functions below. `done` is called when all have answered, or are gone; that of a copy before, if it is not through, never.
  void bring(const wire::StartSession& start, const std::weak_ptr<Run>& run, Done done);
  /// Ends what they are at.
  void stop();
  /// The end of the run: the working directories go when their content is `synced`, and so do the processes.
  void leave(bool synced);

  bool has(std::int64_t worker_id) const { return processes_.contains(worker_id); }
  // For workers that it has:
  void message(std::int64_t worker_id, const wire::FromWorker& message);
  void exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail);

 private:
  struct Process {
    Slot slot;
    bool ready = false;
    bool leaving = false;
  };
  std::optional<std::int64_t> process_on(const std::string& node_id) const;
  void bring_from(const Slot& slot, wire::StartSession start, const std::weak_ptr<Run>& run);
  void send(std::int64_t worker_id);
  void answered(const std::string& node_id, const std::optional<std::string>& error);

  Runtime* runtime_;
  std::vector<std::string> preload_;
  node::FactoryChoice factory_;
  std::map<std::string, Slot> places_;         ///< Where ranks have worked, by node.
  std::map<std::int64_t, Process> processes_;  ///< By worker.
  std::int64_t number_ = 0;                    ///< Of the newest copy.
  std::set<std::string> awaited_;              ///< The nodes that have not answered yet.
  std::optional<std::string> first_error_;
  Done done_;
};

}  // namespace headway::driver
