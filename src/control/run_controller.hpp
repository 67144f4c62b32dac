#pragma once

#include "control/attempt.hpp"
#include "control/callback_lag.hpp"
#include "control/checkpoint_book.hpp"
#include "control/checkpoint_questions.hpp"
#include "control/commands.hpp"
#include "control/deletion_list.hpp"
#include "control/elastic_size.hpp"
#include "control/events.hpp"
#include "control/failure_policy.hpp"
#include "control/held_nodes.hpp"
#include "control/loop_watch.hpp"
#include "control/outbox.hpp"
#include "control/report_ledger.hpp"
#include "control/report_pipeline.hpp"
#include "control/run_end.hpp"
#include "control/run_state.hpp"
#include "control/run_view.hpp"
#include "control/stop_conditions.hpp"
#include "control/straggler_watch.hpp"
#include "control/upkeep.hpp"
#include "control/validation_flow.hpp"
#include "control/wait_watch.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// Decides for one run. A function of its state, the time and an event: no I/O, no clock, no
/// threads. The driver feeds it events one at a time and carries out the commands it returns, in
/// order.
///
/// created → preparing (storage) → scheduling (nodes) → starting (processes, set-up) → running →
/// shutting_down (processes end) → validating (validations that are still open) → closing (last
/// journal) → over. A failure within the budget goes from starting or running through restarting
/// (processes end) to starting again, as the next attempt, from the newest committed checkpoint. So
/// does a group that has to leave a node, and an elastic one that can grow; where nodes must be
/// found anew, through scheduling.
///
/// A run that outlives its driver: a new controller, given the same `StartAsked`, hears in
/// `StoragePrepared::found` what the folder holds (journal, manifests, results) and continues from
/// there: attempts, iterations, names and owner epochs are counted on, the failure budget starts
/// anew, what was begun and not committed is swept before the next attempt.
///
/// The controller holds the state and composes. Its pieces are classes that keep no reference to it
/// or to each other: each gets what it needs with each call, and returns what has happened.
class RunController {
 public:
  /// `spec` has passed validate().
  explicit RunController(RunSpec spec);

  Commands handle(Time now, const Event& event);

  /// What the run looks like at `now`, which is not before the last event's time. Copies no more
  /// than the ranks and the last report: under a millisecond for 1 000 ranks.
  RunView view(Time now) const;

  RunState state() const { return state_; }
  int attempt() const { return attempt_.number(); }
  const CheckpointBook& book() const { return book_; }

  /// How long a process may take for its exit handlers, and how long after SIGTERM before SIGKILL.
  static constexpr Duration exit_grace = std::chrono::seconds(30);
  static constexpr Duration terminate_grace = std::chrono::milliseconds(500);
  /// How long a failure that looks like another rank's echo waits for the one that caused it.
  static constexpr Duration echo_grace = std::chrono::seconds(1);

 private:
  void on(const StartAsked& event);
  void on(const StoragePrepared& event);
  void on(const NodesGranted& event);
  void on(const NodesRefused& event);
  void on(const NodeLost& event);
  void on(const NodePreempted& event);
  void on(const DriverPreempted& event);
  void on(const CapacityChanged& event);
  void on(const CapacitySeen& event);
  void on(const WorkerReady& event);
  void on(const SetupFinished& event);
  void on(const RankReported& event);
  void on(const RankArrived& event);
  void on(const CheckpointBegun& event);
  void on(const RankUploaded& event);
  void on(const CheckpointCommitted& event);
  void on(const CheckpointDeleted& event);
  void on(const ArtifactsSynced& event);
  void on(const RankProgressed& event);
  void on(const RankDataProgressed& event);
  void on(const RankReturned& event);
  void on(const RankRaised& event);
  void on(const WorkerExited& event);
  void on(const GroupEnded& event);
  void on(const TeardownFinished& event);
  void on(const RanksCalled& event);
  void on(const CallAnswered& event);
  void on(const RanksExamined& event);
  void on(const CollectivesSeen& event);
  void on(const CheckpointsAsked& event);
  void on(const ValidationStarted& event);
  void on(const ValidationFinished& event);
  void on(const ValidationFailed& event);
  void on(const ValidationExited& event);
  void on(const FolderSynced& event);
  void on(const JournalWritten& event);
  void on(const ReportHeard& event);
  void on(const FrontFailed& event);
  void on(const CheckpointsPinned& event);
  void on(const StopAsked& event);
  void on(const AbortAsked& event);
  void on(const DriverEnding& event);
  void on(const FolderLost& event);
  void on(const TimerFired& event);
  void on_timer(const Timer& timer);
  void on_timer_of_attempt(TimerPurpose purpose);

  bool at_work() const { return state_ == RunState::starting || state_ == RunState::running; }
  WorkerGroup& group() { return attempt_.group(); }
  const WorkerGroup& group() const { return attempt_.group(); }

  // Attempts and nodes (run_controller.cpp, run_controller_nodes.cpp):
  void start_attempt();
  void finish_when_all_returned();
  Duration exit_limit() const;
  AcquireNodes wanted_nodes() const;
  void acquire_nodes();
  void ask_for_nodes();
  void start_where_granted();
  void start_again();
  void consider_growing();
  void grow();
  void bereave();
  void end_bereaved_group();
  void end_preempted_group();
  RunFailure preemption_failure(bool timed_out) const;

  // A driver that is to end (run_controller_preemption.cpp):
  void end_preempted_run(const std::string& why, bool timed_out);
  void leave_when_saved();
  void leave_validations();
  RunFailure driver_failure(const std::string& why, bool timed_out) const;
  RunFailure of_preempted_driver(RunFailure failure) const;

  // Ends (run_controller_ends.cpp):
  FailureCause cause_of(const RunFailure& failure) const;
  void on_death(const WorkerExited& event);
  void wait_for_cause(RunFailure echo);
  void fail_attempt(RunFailure failure);
  void end_group(EndMode mode, const std::string& reason);
  void terminate_group(const std::string& reason);
  void group_is_over();
  void restart();
  void notify_restart(Duration wait);
  std::string resumed_from() const;
  void ask_for_stop(std::string reason);
  void stop_when_settled();
  void lose_run(const Error& error);
  void end_run();
  void close_run();
  void finish();

  // Reports and checkpoints (run_controller_reports.cpp):
  void check_unmatched_report();
  void check_unmatched_collective();
  void take_report();
  void open_checkpoint(PendingReport& report);
  void order_uploads(PendingReport& report);
  void settle_reports();
  void commit(const PendingReport& report);
  void committed(const PendingReport& report);
  ReportLine line_of(const PendingReport& report) const;
  void record(const PendingReport& report);
  void answer_recorded(const PendingReport& report);
  void refuse(const PendingReport& report);
  void drop(PendingReport report, const std::string& why);
  void answer_asynchronous();
  void answer(const PendingReport& report, const std::optional<std::string>& error);
  void give_up(const std::vector<std::string>& checkpoints);
  void delete_old();
  void warn_of_straggler(const std::optional<StragglerWatch::Straggler>& straggler);
  void keep_times(bool always);
  void settle_validation(const ValidationFlow::Outcome& outcome);
  void take_validation(const std::string& checkpoint, std::int64_t report, const ValidationTask& task);
  void answer_questions();

  // The run beyond its driver (run_controller_journal.cpp):
  void take_up(const FoundRun& found);
  void take_up_validations(const FoundRun& found);
  void tell_of_taking_up(const FoundRun& found);
  void make_good_lines(const FoundRun& found);
  void write_journal();
  void write_last_journal();

  RunScene scene() const;
  std::vector<RankView> view_of_ranks(Time now) const;
  ReportsView view_of_reports(Time now) const;
  std::vector<PendingView> view_of_pending() const;
  std::vector<ValidationView> view_of_validations(Time now) const;
  std::optional<WaitView> view_of_wait(Time now) const;

  RunSpec spec_;
  RunState state_ = RunState::created;
  Time state_since_{};
  std::int64_t owner_epoch_ = 1;  ///< See Journal.
  Outbox out_;
  Attempt attempt_;
  RunEnd end_;
  FailurePolicy policy_;
  HeldNodes nodes_;
  ElasticSize size_;
  ReportPipeline reports_;
  ReportLedger ledger_;
  CallbackLag callbacks_;
  StopConditions stop_conditions_;
  CheckpointBook book_;
  DeletionList deletions_;
  CheckpointQuestions questions_;
  ValidationFlow validations_;
  Upkeep upkeep_;
  WaitWatch waits_;
  bool storing_failed_ = false;  ///< A checkpoint was refused by this event.
  StragglerWatch stragglers_;
  LoopWatch loops_;
  DataWatch data_;
};

}  // namespace headway::control
