#pragma once

#include "control/run_controller.hpp"
#include "sim/artifacts.hpp"
#include "sim/hooks.hpp"
#include "sim/invariants.hpp"
#include "sim/nodes.hpp"
#include "sim/random.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"
#include "sim/storage.hpp"
#include "sim/validations.hpp"
#include "sim/workers.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace headway::sim {

/// What one seed's run was like.
struct Summary {
  std::array<int, fault_kinds> by_fault{};
  int attempts = 0;
  int events = 0;
  double simulated_s = 0;
};

/// One run by one seed: the real controller, and a driver, workers, nodes, hooks, storage and a
/// clock that are simulated.
class World {
 public:
  explicit World(std::uint64_t seed);

  void trace() { stage_.trace.turn_on(); }

  /// Until the run is over and nothing is under way. Errors: throws Violation.
  Summary run();

 private:
  void hand_in(const control::Event& event);
  void remember(const control::Event& event);
  void hand_in_stale(const control::Event& event);
  void new_driver();
  void driver_dies();
  void driver_ends();
  void preempt_driver();
  void forget_driver();
  void trouble_nodes();
  void lose_node();
  void preempt_node();
  void change_capacity();
  void check_liveness() const;

  void carry_out(const control::PrepareStorage&) { storage_.prepare(); }
  void carry_out(const control::AcquireNodes& command) { nodes_.acquire(command); }
  void carry_out(const control::ReleaseNodes&) { nodes_.release(); }
  void carry_out(const control::LookForCapacity& command) { nodes_.look(command); }
  void carry_out(const control::StartWorkers& command);
  void carry_out(const control::RunSetup& command) { hooks_.set_up(command); }
  void carry_out(const control::BeginTraining&) { workers_.begin_training(); }
  void carry_out(const control::BeginCheckpoint& command) { storage_.begin(command); }
  void carry_out(const control::UploadFiles& command) { workers_.upload(command); }
  void carry_out(const control::CommitCheckpoint& command) { storage_.commit(command); }
  void carry_out(const control::DiscardCheckpoint& command) { storage_.discard(command); }
  void carry_out(const control::DeleteCheckpoint& command) { storage_.remove(command); }
  void carry_out(const control::AnswerReport& command) { workers_.answer(command); }
  void carry_out(const control::ReleaseCollective& command) { workers_.release(command); }
  void carry_out(const control::AnnounceCheckpoint&) {}
  void carry_out(const control::AppendResult& command) {
    storage_.append(command);
    hooks_.hear(command);
  }
  void carry_out(const control::KeepStepTimes&) {}
  void carry_out(const control::KeepDataTimes&) {}
  void carry_out(const control::TellFailure& command) { hooks_.hear(command); }
  void carry_out(const control::RunTeardown& command) { hooks_.tear_down(command); }
  void carry_out(const control::EndWorkers& command) { workers_.end(command); }
  void carry_out(const control::SweepStorage&) { storage_.sweep(); }
  void carry_out(const control::SyncFolder&) { storage_.sync(); }
  void carry_out(const control::ExamineRanks& command);
  void carry_out(const control::StartValidation& command) { validations_.start(command); }
  void carry_out(const control::EndValidation& command) { validations_.end(command); }
  void carry_out(const control::TellCheckpoints& command) { workers_.told(command); }
  void carry_out(const control::SyncArtifacts& command) { artifacts_.sync(command); }
  void carry_out(const control::StopSync& command) { artifacts_.stop(command); }
  void carry_out(const control::LeaveWorkingDirectory& command) { artifacts_.leave(command); }
  void carry_out(const control::InterruptHook& command) { hooks_.interrupt(command); }
  void carry_out(const control::LookAtCollectives& command) { workers_.look(command); }
  void carry_out(const control::SetTimer& command);
  void carry_out(const control::WriteJournal& command) { storage_.write_journal(command); }
  void carry_out(const control::Warn&) {}
  void carry_out(const control::Notify&) {}
  void carry_out(const control::Finish& command);

  Stage stage_;
  Random looks_;  ///< Separate chance, so that looking changes no run.
  Scenario scenario_;
  Storage storage_;
  Workers workers_;
  Artifacts artifacts_;
  Validations validations_;
  Nodes nodes_;
  Hooks hooks_;
  Invariants invariants_;
  std::unique_ptr<control::RunController> controller_;
  std::vector<control::Event> said_;   ///< Of the current attempt.
  std::vector<control::Event> older_;  ///< Of attempts that have ended.
  int driver_ = 0;
  int events_ = 0;
};

}  // namespace headway::sim
