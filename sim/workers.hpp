#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"
#include "sim/storage.hpp"

#include <set>
#include <string>
#include <vector>

namespace headway::sim {

/// The processes of one attempt: each runs the scenario's training function, says what a session
/// says, and dies as processes do. What one worker says arrives in order, its end last; between
/// workers there is no order. Orders reach a worker in order too, signals reach it at once.
class Workers {
 public:
  enum class Phase { starting, ready, training, reporting, asking, gathering, returned, raised, leaving, gone };

  Workers(Stage& stage, const Scenario& scenario, Storage& storage)
      : stage_(&stage), scenario_(&scenario), storage_(&storage) {}

  // The driver's commands:
  void start(const control::StartWorkers& command);
  void begin_training();
  void upload(const control::UploadFiles& command);
  void answer(const control::AnswerReport& command);
  void told(const control::TellCheckpoints& command);
  void release(const control::ReleaseCollective& command);
  void end(const control::EndWorkers& command);
  void look(const control::LookAtCollectives& command);
  /// Those of a node are out of reach. They live until the node's lease has run out; then the
  /// controller hears that they are gone.
  void lose_node(const std::string& node_id);
  /// The guard ends every process; nobody hears of it.
  void driver_died();

  /// Whether no rank is in its training function any more.
  bool all_returned() const;
  bool any_process() const;
  int size() const { return static_cast<int>(workers_.size()); }
  Phase phase(int rank) const { return workers_[static_cast<std::size_t>(rank)].phase; }
  /// "rank 0 reporting since 12.3 s, rank 1 gone": the words of a hang.
  std::string words() const;

 private:
  struct Worker {
    Phase phase = Phase::starting;
    Time since{};
    std::int64_t reports = 0;
    std::int64_t questions = 0;
    std::int64_t collectives = 0;   ///< Barriers and broadcasts begun.
    bool hung = false;              ///< On its way to one.
    std::int64_t gathered_at = -1;  ///< The last step of one.
    std::int64_t step = 0;
    std::int64_t steps = 0;  ///< Where it returns.
    bool in_thread = false;  ///< A thread of it makes the report; its function goes on.
    bool deaf = false;       ///< It ignores SIGTERM.
    bool lost = false;       ///< Its node is: nobody hears it, and nothing reaches it.
    bool end_known = false;  ///< The driver knows that it is gone.
    std::string node_id;
    Time said_until{};  ///< When the last thing that it said arrives.
    Time told_until{};  ///< When the last order arrives.
    std::set<std::string> writing;
  };

  Worker& at(int rank) { return workers_[static_cast<std::size_t>(rank)]; }
  /// Does `what` later, if the process still lives then.
  void later(int rank, Duration after, std::function<void()> what);
  void order(int rank, std::function<void()> what);
  void say(int rank, control::Event event);
  void enter(int rank, Phase phase);
  void may_crash(int rank);
  void leave(int rank, ExitStatus status);
  void tell_exit(int rank, const ExitStatus& status);
  void echo_in_others(int rank);

  void train(int rank);
  void report(int rank);
  void ask(int rank);
  void gather(int rank, control::CollectiveCall call);
  void return_from_training(int rank);
  void raise(int rank, bool echo, const std::string& message);
  void exit_by_itself(int rank);
  void store(int rank, const control::UploadFiles& command);
  void store_by_function(int rank, const control::UploadFiles& command);

  Stage* stage_;
  const Scenario* scenario_;
  Storage* storage_;
  std::vector<Worker> workers_;
  bool may_hang_ = scenario_->spec.failure.hang_fail_s.has_value();
  int attempt_ = 0;
  std::uint64_t group_ = 0;  ///< Counts groups over all drivers.
};

}  // namespace headway::sim
