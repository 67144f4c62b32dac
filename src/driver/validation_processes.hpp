#pragma once

#include "control/commands.hpp"
#include "control/events.hpp"
#include "driver/front_queue.hpp"
#include "driver/run_folder.hpp"
#include "node/node_agent.hpp"
#include "wire/frame.hpp"
#include "wire/session_messages.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headway::driver {

class Run;
class Runtime;

/// The processes that validate checkpoints of one run. Each is a worker of this node, forked by the same factory as the ranks are,
/// with resources of its own. Decides nothing; lives on the driver's loop.
class ValidationProcesses {
 public:
  /// What is the same for all of a run's validations.
  struct Common {
    RunSpec spec;
    std::shared_ptr<RunFolder> folder;
    JsonObject setup;             ///< For the front end's worker side.
    wire::Blob function;          ///< The trainer's, pickled with its arguments; none when it has none.
    node::FactoryChoice factory;  ///< As the run's ranks.
  };
  /// Hands an event to the controller, later.
  using Tell = std::function<void(control::Event)>;

  ValidationProcesses(Runtime& runtime, Common common, std::shared_ptr<FrontQueue> front, Tell tell)
      : runtime_(&runtime), common_(std::move(common)), front_(std::move(front)), tell_(std::move(tell)) {}

  /// `run` hears of the worker, and passes that on to the functions below.
  void start(const control::StartValidation& command, const std::weak_ptr<Run>& run, std::int64_t run_id);
  void end(const control::EndValidation& command);

  bool has(std::int64_t worker_id) const { return processes_.contains(worker_id); }
  // For workers that it has:
  void granted(std::int64_t worker_id, const Result<Slot>& slot);
  void message(std::int64_t worker_id, const wire::FromWorker& message);
  void exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail);
  /// False when the writer should wait.
  bool line(std::int64_t worker_id, std::string_view line);

 private:
  struct Process {
    control::StartValidation order;
    bool launched = false;
  };
  Result<void> launch(std::int64_t worker_id, Process& process, Slot slot);
  wire::Blob function_of(const control::StartValidation& order) const;

  Runtime* runtime_;
  Common common_;
  std::shared_ptr<FrontQueue> front_;
  Tell tell_;
  std::map<std::int64_t, Process> processes_;  ///< By worker.
};

}  // namespace headway::driver
