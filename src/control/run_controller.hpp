#pragma once

#include "control/checkpoint_book.hpp"
#include "control/collective_barrier.hpp"
#include "control/collective_watch.hpp"
#include "control/commands.hpp"
#include "control/deletion_list.hpp"
#include "control/events.hpp"
#include "control/failure_policy.hpp"
#include "control/growth_watch.hpp"
#include "control/hang_text.hpp"
#include "control/hang_watch.hpp"
#include "control/preemption_watch.hpp"
#include "control/report_barrier.hpp"
#include "control/run_outcome.hpp"
#include "control/run_state.hpp"
#include "control/run_view.hpp"
#include "control/stop_conditions.hpp"
#include "control/sync_schedule.hpp"
#include "control/validation_queue.hpp"
#include "control/worker_group.hpp"

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::control {

/// Decides for one run. A function of its state, the time and an event: no I/O, no clock, no threads. The driver feeds it events
/// one at a time and carries out the commands it returns, in order.
///
/// created → preparing (storage) → scheduling (nodes) → starting (processes, set-up) → running → shutting_down (processes end)
/// → validating (validations that are still open) → closing (last journal) → over. A failure within the budget goes from starting or running through restarting (processes
/// end) to starting again, as the next attempt, from the newest committed checkpoint. So does a group that has to leave a node, and an
/// elastic one that can grow; where nodes must be found anew, through scheduling.
///
/// A run that outlives its driver: a new controller, given the same `StartAsked`, hears in `StoragePrepared::found` what the folder
/// holds (journal, manifests, results) and goes on from there: attempts, iterations, names and owner epochs are counted on, the
/// failure budget starts afresh, what was begun and not committed is swept before the next attempt.
class RunController {
 public:
  /// `spec` has passed validate().
  explicit RunController(RunSpec spec);

  Commands handle(Time now, const Event& event);

  /// What the run looks like at `now`, which is not before the last event's time. Copies no more than the ranks and the last
  /// report: under a millisecond for 1 000 ranks.
  RunView view(Time now) const;

  RunState state() const { return state_; }
  int attempt() const { return attempt_; }
  const CheckpointBook& book() const { return book_; }

  /// How long a process may take for its exit handlers, and how long after SIGTERM before SIGKILL.
  static constexpr Duration exit_grace = std::chrono::seconds(30);
  static constexpr Duration terminate_grace = std::chrono::milliseconds(500);
  /// Asynchronous checkpoints that may be under way at once; the report of one more waits.
  static constexpr std::size_t asynchronous_max = 2;
  /// How often the small files of a run on remote storage are brought there, beside each commit and the end.
  static constexpr Duration sync_interval = std::chrono::seconds(30);
  /// How long a failure that looks like another rank's echo waits for the one that caused it.
  static constexpr Duration echo_grace = std::chrono::seconds(1);
  /// How long an aborted run's working directories may take to be brought to storage.
  static constexpr Duration abort_sync_grace = std::chrono::seconds(5);

 private:
  /// A checkpoint between its ranks' offers and its commit.
  struct PendingCheckpoint {
    std::string name;
    UploadPlan plan;
    bool asynchronous = false;
    bool begun = false;
    bool committing = false;
    Time since{};                  ///< When what it waits for was ordered.
    bool maybe_committed = false;  ///< Its commit is said to have failed; the manifest may be there all the same.
    std::set<int> uploading;
    std::vector<FileRecord> files;
    std::optional<std::string> stored_name;  ///< Where the user's function has put it.
    std::vector<int> unseen_by;              ///< Ranks whose nodes do not see the checkpoint's directory.
    std::optional<std::string> refusal;      ///< Said once no rank writes any more: what they wrote is then discarded.
  };
  /// A report that all ranks have made, until it is recorded. They are recorded, and their checkpoints committed, in order.
  struct PendingReport {
    std::int64_t index = 0;
    JsonObject metrics;
    std::optional<std::vector<JsonObject>> rank_metrics;  ///< Where the front end has callbacks.
    std::optional<PendingCheckpoint> checkpoint;
    std::optional<ValidationTask> validation = {};
    bool answered = false;
  };
  struct Question {
    CheckpointsAsked asked;
    std::optional<std::int64_t> timer;
    bool over = false;  ///< Its time is: it gets what there is.
  };
  enum class TimerPurpose { echo, exit, terminate, restart, sync, preemption };
  struct Timer {
    std::int64_t id = 0;
    TimerPurpose purpose = TimerPurpose::echo;
  };

  void on(const StartAsked& event);
  void on(const StoragePrepared& event);
  void on(const NodesGranted& event);
  void on(const NodesRefused& event);
  void on(const NodeLost& event);
  void on(const NodePreempted& event);
  void on(const RoomChanged& event);
  void on(const RoomSeen& event);
  void on(const WorkerReady& event);
  void on(const SetupFinished& event);
  void on(const RankReported& event);
  void on(const RankArrived& event);
  void on(const CheckpointBegun& event);
  void on(const RankUploaded& event);
  void on(const CheckpointCommitted& event);
  void on(const CheckpointDeleted& event);
  void on(const ArtifactsSynced& event);
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
  void on(const StopAsked& event);
  void on(const AbortAsked& event);
  void on(const DriverEnding& event);
  void on(const FolderLost& event);
  void on(const TimerFired& event);

  bool current(int attempt, int rank) const { return attempt == attempt_ && group_.valid(rank); }
  bool at_work() const { return state_ == RunState::starting || state_ == RunState::running; }

  void take_up(const FoundRun& found);
  void take_up_validations(const FoundRun& found);
  void tell_of_taking_up(const FoundRun& found);
  void make_good_lines(const FoundRun& found);
  void lose_run(const Error& error);
  void finish();
  AcquireNodes wanted_nodes() const;
  void acquire_nodes();
  void ask_for_nodes();
  void start_where_granted();
  bool needs(const std::string& node_id) const;
  void start_attempt();
  void start_again();
  bool elastic() const;
  void consider_growing();
  void grow();
  void resize();
  void tell_size();
  bool lost(const RankState& rank) const;
  bool any_left() const;
  bool any_at_work() const;
  RunFailure preemption_failure(bool timed_out) const;
  void bereave();
  void end_bereaved_group();
  void end_preempted_group();
  FailureCause cause_of(const RunFailure& failure) const;
  void take_report();
  PendingCheckpoint begin_checkpoint(std::int64_t index);
  void order_uploads(std::int64_t index, PendingCheckpoint& checkpoint);
  PendingReport* pending(std::int64_t index);
  void settle_reports();
  bool settle_first();
  void commit(const PendingReport& report);
  void committed(const PendingReport& report);
  ReportLine line_of(const PendingReport& report) const;
  void record(const PendingReport& report);
  void refuse(const PendingReport& report);
  void answer_asynchronous();
  void answer(const PendingReport& report, const std::optional<std::string>& error);
  bool too_far_ahead() const;
  bool callbacks_awaited() const;
  void pass_on(const PendingReport& report, const ReportLine& line);
  void ask_for_stop(std::string reason);
  void stop_when_settled();
  std::string ended_before_storing(int rank) const;
  void forget_uploads_of(int rank);
  void finish_when_all_returned();
  void check_unmatched_report();
  void release_collective();
  void check_unmatched_collective();
  void fail_attempt(RunFailure failure);
  void end_group(EndMode mode, const std::string& reason);
  void group_is_over();
  /// How long exit handlers may take: `exit_grace`, or FailureConfig.hang_fail_s where that is shorter.
  Duration exit_limit() const;
  void restart();
  void notify_restart(Duration wait);
  std::string resumed_from() const;
  void delete_old();
  void begin_upkeep();
  void sync_artifacts();
  void stop_slow_sync();
  bool on_upkeep_timer(std::int64_t timer);
  std::int64_t upkeep_timer(Duration from_now);
  void close_run();

  void take_validation(const std::string& checkpoint, std::int64_t report, const ValidationTask& task);
  void start_validations();
  void stop_validations(const std::string& reason);
  void settle_validation(const ValidationQueue::Validation& validation, CheckpointStatus status,
                         const JsonObject& metrics);
  bool on_validation_timer(std::int64_t timer);
  bool on_question_timer(std::int64_t timer);
  void end_run();
  void give_up(const std::vector<std::string>& checkpoints);
  void answer_questions();

  void write_last_journal();
  void write_journal();
  void sync_folder();
  void set_timer(TimerPurpose purpose, Duration from_now);

  std::optional<Wait> current_wait() const;
  std::optional<Wait> wait_of_reports() const;
  std::optional<Wait> wait_of_storage() const;
  WaitScene scene_of(const Wait& wait) const;
  std::vector<RankView> view_of_ranks(Time now) const;
  ReportsView view_of_reports(Time now) const;
  std::vector<PendingView> view_of_pending() const;
  std::vector<ValidationView> view_of_validations(Time now) const;
  std::optional<WaitView> view_of_wait(Time now) const;

  void watch_hangs();
  void watch_collectives();
  void examine(std::int64_t examination, const Wait& wait);

  RunSpec spec_;
  RunState state_ = RunState::created;
  Time state_since_{};
  Time now_{};
  Time started_{};
  Time attempt_started_{};
  Time last_report_{};
  std::optional<ReportLine> last_line_;  ///< The last report that was recorded.
  Duration earlier_{};                   ///< How long earlier drivers of the run took.
  bool taken_up_ = false;                ///< The folder held the run already.
  int attempts_before_ = 0;              ///< Those of earlier drivers.
  std::int64_t owner_epoch_ = 1;         ///< See Journal.
  bool lost_ = false;                    ///< The folder is gone or somebody else's: nothing more is written to it.
  int attempt_ = 0;
  std::int64_t iteration_ = 0;
  std::int64_t attempt_iterations_ = 0;
  std::vector<Slot> slots_;
  std::set<std::string> lost_nodes_;
  WorkerGroup group_;
  ReportBarrier barrier_;
  CollectiveBarrier collectives_;
  CheckpointBook book_;
  DeletionList deletions_;
  ValidationQueue validations_;
  std::vector<Question> questions_;  ///< Of this attempt's ranks, without an answer yet.
  SyncSchedule sync_;
  std::optional<std::int64_t> sync_period_timer_;
  std::optional<std::int64_t> sync_limit_timer_;
  FailurePolicy policy_;
  GrowthWatch growth_;
  PreemptionWatch preemption_;
  HangWatch hang_watch_;
  CollectiveWatch collective_watch_;
  std::optional<std::int64_t> hang_timer_;
  std::optional<std::int64_t> look_timer_;
  std::optional<std::int64_t> growth_timer_;
  bool resizing_ = false;                    ///< The attempt ends so that a larger group may go on; it has not failed.
  bool trained_ = false;                     ///< A group of this driver's has come to its training.
  int told_size_ = 0;                        ///< The elastic group's, as the user knows it.
  std::optional<Time> hook_since_;           ///< When the front end's hooks were called, while they have not returned.
  std::optional<Time> ending_since_;         ///< When the attempt's processes were first told to end.
  Time barrier_since_{};                     ///< When the first rank came to the open report.
  Time collectives_since_{};                 ///< When the first rank came to the open barrier or broadcast.
  std::deque<PendingReport> pending_;        ///< In order; the first may be under way to its commit.
  std::optional<std::string> upload_error_;  ///< Of an asynchronous checkpoint; the next report tells it.
  std::optional<RunFailure> echo_;           ///< A failure that waits for its cause.
  std::optional<RunFailure> failure_;        ///< Why the current attempt ends.
  FailureCause failure_cause_ = FailureCause::group;
  std::optional<std::string> abort_reason_;
  StopConditions stop_conditions_;
  std::optional<std::string> stop_reason_;
  int unheard_ = 0;                    ///< Recorded reports that the run's callbacks have not heard.
  std::optional<PendingReport> held_;  ///< Recorded; its ranks wait for the callbacks.
  Time callbacks_since_{};             ///< When the oldest unheard report, or the last heard one, was.
  bool callback_failed_ = false;
  bool group_gone_ = true;
  bool warned_same_name_ = false;
  std::vector<std::string> attempt_ends_;  ///< Each finished attempt's reason, for the journal.
  std::vector<Timer> timers_;
  std::int64_t timers_set_ = 0;
  int journals_under_way_ = 0;
  bool last_journal_ = false;  ///< It is ordered.
  bool sync_under_way_ = false;
  bool sync_failed_ = false;  ///< The last one did; that is told once.
  Commands out_;
};

}  // namespace headway::control
