#pragma once

#include "control/run_controller.hpp"
#include "sim/budgets.hpp"
#include "sim/nodes.hpp"
#include "sim/notice_period.hpp"
#include "sim/retention.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"
#include "sim/storage.hpp"
#include "sim/violation.hpp"
#include "sim/workers.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::sim {

/// Watches everything that the controller hears and says, knows what is on disk and which processes
/// live, and throws a Violation when an invariant does not hold. Its model is independent: nothing
/// is taken from the controller.
class Invariants {
 public:
  Invariants(const Stage& stage, const Scenario& scenario, const Storage& storage, const Workers& workers,
             const Nodes& nodes)
      : stage_(&stage),
        scenario_(&scenario),
        storage_(&storage),
        workers_(&workers),
        nodes_(&nodes),
        retention_(scenario.spec.checkpoint) {}

  /// Before the controller hears it.
  void hears(const control::Event& event);
  /// Before it is carried out.
  void says(const control::Command& command);
  /// After all commands of an event.
  void settled(const control::RunController& controller);
  /// Whenever somebody looks, after all commands of an event.
  void sees(const control::RunView& view) const;
  /// After the end of everything: nothing is under way any more.
  void over() const;

  /// The driver is dead, and every process with it. What it had promised still holds for the next
  /// one.
  void driver_died();

  bool finished() const { return finished_; }
  /// Whether the controller has heard that the folder is gone, or another driver's.
  bool folder_lost() const { return folder_lost_; }
  /// Whether and when the driver must be through with the run.
  const NoticePeriod& notice() const { return notice_; }
  int attempt() const { return attempt_; }

 private:
  /// What the ranks did with one report, and what became of it.
  struct Report {
    std::set<int> made_by;
    std::set<int> answered_to;
    bool has_checkpoint = false;
    bool asynchronous = true;  ///< As far as it has a checkpoint.
    bool after_notice = false;
    std::optional<std::string> error;
    std::optional<std::string> checkpoint;
    bool counted = false;
  };
  /// A validation's process.
  struct Validation {
    std::string checkpoint;
    std::optional<Time> since;
    bool over = false;  ///< What became of it is known, or does not count any more.
  };

  template <class Other>
  void on(const Other&) {}
  void on(const control::StoragePrepared& event);
  void on(const control::SetupFinished& event) { budgets_.hears(event); }
  void on(const control::CapacitySeen& event) { budgets_.hears(event); }
  void on(const control::NodePreempted& event);
  void on(const control::DriverPreempted& event);
  /// What hangs may be ended.
  void on(const control::RanksExamined&) { notice_.cut(stage_->schedule.now()); }
  void on(const control::NodeLost& event);
  void on(const control::NodesRefused& event);
  void on(const control::RankReported& event);
  void on(const control::RankArrived& event);
  void on(const control::RankReturned& event);
  void on(const control::WorkerExited& event);
  void on(const control::CheckpointCommitted& event);
  void on(const control::GroupEnded& event);
  void on(const control::JournalWritten& event);
  void on(const control::AbortAsked& event);
  void on(const control::FolderLost&) { folder_lost_ = true; }
  void on(const control::FolderSynced& event) { hears_of_owner(event.error); }
  void on(const control::CheckpointsPinned& event) { retention_.pin(event.names); }
  void on(const control::StopAsked& event);
  void on(const control::FrontFailed& event);
  void on(const control::ReportHeard& event);
  void on(const control::ValidationStarted& event);
  void on(const control::ValidationFinished& event);
  void on(const control::ValidationFailed& event);
  void on(const control::ValidationExited& event);
  void on(const control::CheckpointsAsked& event);

  template <class Other>
  void check(const Other&) {}
  void check(const control::AcquireNodes& command);
  void check(const control::StartWorkers& command);
  void check(const control::BeginTraining&) { budgets_.trains(); }
  void check(const control::BeginCheckpoint& command);
  void check(const control::UploadFiles& command);
  void check(const control::CommitCheckpoint& command);
  void check(const control::DiscardCheckpoint& command);
  void check(const control::DeleteCheckpoint& command);
  void check(const control::AnswerReport& command);
  void check(const control::AnnounceCheckpoint& command);
  void check(const control::ReleaseNodes& command);
  void check(const control::ReleaseCollective& command);
  void check(const control::AppendResult& command);
  void check(const control::StartValidation& command);
  void check(const control::EndValidation& command);
  void check(const control::TellCheckpoints& command);
  void check(const control::EndWorkers& command);
  void check(const control::SetTimer& command);
  void check(const control::SweepStorage& command);
  void check(const control::WriteJournal& command);
  void check(const control::Notify& command);
  void check(const control::Finish& command);

  void take_up(const control::FoundRun& found);
  void hears_of_owner(const std::optional<Error>& error);
  void check_made_good(const ReportLine& line) const;
  void check_places(const std::vector<WorkerPlan>& plans) const;
  void count_restart(Time now);
  void check_reports_counted() const;
  void forget_validations(const std::string& name);
  void check_view_of_reports(const control::RunView& view) const;
  void check_view_of_ranks(const control::RunView& view) const;
  void check_validations(const std::vector<control::KeptCheckpoint>& book) const;
  void settle_validation(const std::string& checkpoint, const JsonObject* metrics);
  Retention::Reports settled_by(const control::Journal& journal) const;
  void check_end_of_validations(const control::RunOutcome& end) const;

  const Stage* stage_;
  const Scenario* scenario_;
  const Storage* storage_;
  const Workers* workers_;
  const Nodes* nodes_;
  Retention retention_;

  bool prepared_ = false;
  bool nodes_refused_ = false;
  int journals_open_ = 0;
  bool abort_asked_ = false;
  NoticePeriod notice_;
  bool folder_lost_ = false;
  bool stop_asked_ = false;
  bool callback_failed_ = false;
  int unheard_ = 0;  ///< Counted reports that the callbacks have not heard.
  int attempt_ = 0;
  bool began_anew_ = false;  ///< A driver found no journal of the last one.
  int groups_ = 0;           ///< That this driver has started.
  int world_size_ = 0;
  bool group_lives_ = false;
  Time group_ended_{};
  Budgets budgets_{scenario_->spec.scaling, scenario_->spec.failure};
  int early_deaths_ = 0;
  bool restart_told_ = false;
  std::set<int> returned_;
  std::set<int> gone_;                      ///< Ranks of this attempt whose end is known.
  std::map<std::int64_t, Report> reports_;  ///< Of this attempt, by index.
  /// Of this attempt, by index: which rank has called what.
  std::map<std::int64_t, std::map<int, control::CollectiveCall>> arrived_;
  std::int64_t released_ = 0;       ///< Of this attempt.
  std::int64_t last_counted_ = -1;  ///< Of this attempt.
  std::int64_t counted_in_attempt_ = 0;
  std::int64_t last_step_ = -1;  ///< Of this attempt.
  std::int64_t iterations_ = 0;
  std::optional<Manifest> committing_;
  std::int64_t committing_index_ = 0;
  std::map<std::int64_t, Validation> validations_;  ///< By number.
  std::map<std::string, int> deaths_;               ///< Of processes that validated a checkpoint.
  /// One is known since the last journal was ordered.
  bool outcome_unwritten_ = false;
  /// What was known with each journal that is under way.
  std::deque<Retention::Outcomes> journals_;
  Retention::Outcomes durable_outcomes_;  ///< What a journal that was written has.
  std::map<std::pair<int, std::int64_t>, control::CheckpointsAsked>
      questions_;  ///< Of this attempt, by rank and number.
  std::set<std::int64_t> timers_;
  bool finished_ = false;
};

}  // namespace headway::sim
