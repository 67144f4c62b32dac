#pragma once

#include "control/run_controller.hpp"
#include "driver/artifact_carriers.hpp"
#include "driver/artifact_sync.hpp"
#include "driver/front_queue.hpp"
#include "driver/function_workers.hpp"
#include "driver/historian.hpp"
#include "driver/run_folder.hpp"
#include "driver/run_start.hpp"
#include "driver/status_file.hpp"
#include "driver/validation_processes.hpp"
#include "driver/watch.hpp"
#include "driver/worker_routes.hpp"
#include "driver/working_directories.hpp"
#include "engine/engine.hpp"
#include "storage/outage.hpp"
#include "wire/frame.hpp"
#include "wire/session_messages.hpp"

#include <boost/asio.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headway::driver {

class Runtime;

/// One run: feeds its controller with events and carries out what it commands. Decides nothing.
///
/// The functions under "any thread" are for the front end; the others run on the driver's loop.
class Run : public WorkerListener, public std::enable_shared_from_this<Run> {
 public:
  /// `start.spec` has passed validate().
  Run(Runtime& runtime, RunStart start);

  // Any thread:

  const std::string& path() const { return folder_->path(); }
  int event_fd() const { return front_->event_fd(); }
  /// What happened since the last call. The last event of a run is Finished.
  std::vector<FrontEvent> take_events();
  /// What must be heard while a hook holds up the serving thread, so another thread may take it:
  /// ExamineHook (the answer is `hook_examined`), InterruptHook, RunWarning.
  int alarm_fd() const { return alarms_->event_fd(); }
  std::vector<FrontEvent> take_alarms();
  /// The stack of the thread in fit(), in lines.
  void hook_examined(std::int64_t examination, std::string text);
  /// From now on a MovingLineShown comes each second, for a terminal.
  void show_moving_line();
  /// Asks for the end; Finished comes within about a second.
  void abort(const std::string& reason);
  /// Has these ranks of the current attempt call a pickled function. A CallExecuted with `call_id`
  /// comes for each, even if its process is gone.
  void execute(std::int64_t call_id, std::vector<int> ranks, wire::Blob function);
  /// The hooks of a SetupAsked or TeardownAsked have returned.
  void setup_finished(int attempt, std::optional<RankError> error);
  void teardown_finished(int attempt);
  /// The run's callbacks have heard a CallbackReport; each wants one call, in order.
  void report_heard();
  /// One of them has raised: the run fails by it.
  void callback_failed(const std::string& message);
  /// The user's conditions end the run: it ends as finished.
  void stop(const std::string& reason);
  /// Somebody else needs these checkpoints, and no others any more.
  void pin(std::vector<std::string> checkpoints);

  // On the loop:

  /// Reads the lines of result.json behind the first `count`, with those that were made good when
  /// the run was taken up; `done` is called on the loop.
  void read_results(std::int64_t count, std::function<void(std::vector<JsonObject> lines)> done);
  void start(std::int64_t run_id);
  /// A run that was held asks for its slots, at once or when it is prepared.
  void let_in();
  // Of its ranks; helper processes hear of themselves.
  Result<void> worker_message(std::int64_t worker_id, wire::Frame frame) override;
  void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) override;
  bool worker_line(std::int64_t worker_id, std::string_view line) override;
  /// The exits of its workers come later, when they can't live any more.
  void node_lost(const std::string& node_id, const std::string& reason);
  void node_preempted(const std::string& node_id, double grace_s);
  /// Whether SIGTERM to this process is a notice for the run. Under torchrun it is not: that ends
  /// its other ranks at once.
  bool hears_termination() const { return spec_.local_ranks <= 1; }
  /// This process received SIGTERM, for the first time or again.
  void driver_preempted(double notice_s);
  /// The engine may have more capacity than before.
  void capacity_changed();
  /// CPUs that nobody has claimed may be others than before.
  void spare_changed() { function_workers_.look(); }
  /// As it was when something about it last changed.
  std::shared_ptr<const RunStatus> status();
  void warn(const std::string& text);
  void notify(const std::string& text);
  /// An exception has left a handler: the run ends with it (ControllerError), its workers by
  /// SIGKILL.
  void fail(const Error& error);
  /// The runtime ends: nothing may be called on it from here any more.
  void detach();

 private:
  struct Examination;
  struct Worker {
    std::int64_t worker_id = 0;
    bool gone = false;
    std::vector<std::int64_t> open_calls;
  };

  /// The process of rank 0, which was started before the run has slots.
  struct EarlyWorker {
    std::int64_t worker_id = 0;
    control::StartWorkers command;         ///< That it was started for.
    std::optional<std::int64_t> pid = {};  ///< Once it is ready.
  };

  void handle(const control::Event& event);
  void post(control::Event event);
  /// Does `work` on the run's storage strand. When the run's folder is gone by then, the controller
  /// hears it.
  void do_on_storage(std::function<void()> work);
  void tell_if_lost();
  /// The same; then hands the event that `work` returns to the controller.
  void on_storage(std::function<control::Event()> work);

  void carry_out(const control::PrepareStorage& command);
  void carry_out(const control::AcquireNodes& command);
  void carry_out(const control::ReleaseNodes& command);
  void carry_out(const control::LookForCapacity& command);
  void carry_out(const control::StartWorkers& command);
  void carry_out(const control::RunSetup& command);
  void carry_out(const control::BeginTraining& command);
  void carry_out(const control::BeginCheckpoint& command);
  void carry_out(const control::UploadFiles& command);
  void carry_out(const control::CommitCheckpoint& command);
  void carry_out(const control::DiscardCheckpoint& command);
  void carry_out(const control::DeleteCheckpoint& command);
  void carry_out(const control::StartValidation& command);
  void carry_out(const control::EndValidation& command);
  void carry_out(const control::TellCheckpoints& command);
  void carry_out(const control::SyncArtifacts& command);
  void carry_out(const control::StopSync& command);
  void carry_out(const control::LeaveWorkingDirectory& command);
  void carry_out(const control::AnswerReport& command);
  void carry_out(const control::ReleaseCollective& command);
  void carry_out(const control::AnnounceCheckpoint& command);
  void carry_out(const control::AppendResult& command);
  void carry_out(const control::KeepStepTimes& command);
  void carry_out(const control::KeepDataTimes& command);
  void carry_out(const control::TellFailure& command);
  void carry_out(const control::RunTeardown& command);
  void carry_out(const control::EndWorkers& command);
  void carry_out(const control::ExamineRanks& command);
  void carry_out(const control::LookAtCollectives& command);
  void carry_out(const control::InterruptHook& command);
  void carry_out(const control::SweepStorage& command);
  void carry_out(const control::SetTimer& command);
  void carry_out(const control::SyncFolder& command);
  void carry_out(const control::WriteJournal& command);
  void carry_out(const control::Warn& command);
  void carry_out(const control::Notify& command);
  void carry_out(const control::Finish& command);

  void remove_halves_of_artifacts();
  wire::StartSession session_start() const;
  wire::RankRole rank_role(const control::StartWorkers& command) const;
  node::WorkerLaunch launch() const;
  engine::Wanted to_wanted(const control::AcquireNodes& command) const;
  void start_worker(const control::StartWorkers& command, const WorkerPlan& plan, const std::string& visible_gpus);
  Result<void> start_process(std::int64_t worker_id, const control::StartWorkers& command, const WorkerPlan& plan,
                             const std::string& visible_gpus);
  void start_early(const control::AcquireNodes& wanted);
  bool take_early(const control::StartWorkers& command);
  void end_early();
  void on_message(int rank, const wire::SessionReady& message, const wire::Blob& blob);
  void on_message(int rank, const wire::Executed& message, const wire::Blob& blob);
  void on_message(int rank, const wire::Reported& message, const wire::Blob& blob);
  void on_message(int rank, const wire::Arrived& message, const wire::Blob& blob);
  void on_message(int rank, const wire::Uploaded& message, const wire::Blob& blob);
  void on_message(int rank, const wire::AskCheckpoints& message, const wire::Blob& blob);
  // These are of other roles.
  void on_message(int, const wire::OpenRuntime&, const wire::Blob&) {}  // Taken before.
  void on_message(int, const wire::Validated&, const wire::Blob&) {}
  void on_message(int, const wire::ArtifactsBrought&, const wire::Blob&) {}
  void on_message(int rank, const wire::CollectivesTold& message, const wire::Blob& blob);
  void on_message(int rank, const wire::StacksTold& message, const wire::Blob& blob);
  void on_message(int rank, const wire::Progressed& message, const wire::Blob& blob);
  void on_message(int rank, const wire::DataProgressed& message, const wire::Blob& blob);
  void on_message(int rank, const wire::FunctionWorkersWanted& message, const wire::Blob& blob);
  void on_message(int rank, const wire::TrainingReturned& message, const wire::Blob& blob);
  void on_message(int rank, const wire::TrainingRaised& message, const wire::Blob& blob);

  void close_local_sessions();
  void finish_examination();
  int rank_of(std::int64_t worker_id) const;
  void send_to(int attempt, int rank, wire::Frame frame);
  void fail_calls(Worker& worker, int rank);
  void fail_call(std::int64_t call_id, int rank);
  void wake_display();
  control::RunView view() const;
  void status_changed();
  void keep_history(const control::Event& event, const control::Commands& commands);
  void write_status(std::function<void()> done);
  void move_line();
  void end_status();

  Runtime* runtime_;
  boost::asio::io_context& loop_;
  RunSpec spec_;
  JsonObject worker_setup_;
  wire::Blob task_;
  wire::Blob trainer_;
  bool held_;
  std::optional<control::AcquireNodes> held_acquire_;  ///< What it asks for once it is let in.
  bool starts_early_;
  std::optional<EarlyWorker> early_;
  std::optional<control::Finish> finish_;  ///< Waits for the end of that one.
  std::function<void(bool waits)> waits_for_slots_;
  std::function<void()> slots_returned_;
  control::RunController controller_;
  std::shared_ptr<RunFolder> folder_;
  WorkingDirectories working_directories_;
  std::string working_directory_;
  storage::LockFile working_directory_lock_;     ///< On the strand alone.
  std::unique_ptr<ArtifactSync> artifact_sync_;  ///< From the first copy on.
  std::shared_ptr<FrontQueue> front_;
  std::shared_ptr<FrontQueue> alarms_;
  std::shared_ptr<Examination> examination_;  ///< The one under way.
  node::FactoryChoice factory_;               ///< Of all its workers.
  ValidationProcesses validations_;
  ArtifactCarriers artifact_carriers_;
  FunctionWorkers function_workers_;
  boost::asio::strand<boost::asio::thread_pool::executor_type> storage_;
  std::shared_ptr<storage::Outage> outage_;  ///< Of what is done on the strand.
  boost::asio::steady_timer display_timer_;
  bool display_waits_ = false;
  /// Null: something has happened since it was asked for.
  std::shared_ptr<const RunStatus> status_;
  StatusFile status_file_;
  Historian historian_;
  boost::asio::steady_timer line_timer_;         ///< Runs where the moving line is shown.
  std::optional<control::RunState> line_state_;  ///< What the line was drawn for.
  std::int64_t run_id_ = 0;
  int attempt_ = 0;
  std::vector<Worker> workers_;  ///< Of the current attempt, by rank.
  std::vector<Slot> slots_;      ///< The same ones'.
  /// By rank; closed once it is handed on. Empty but in local mode.
  std::vector<wire::Fd> local_sessions_;
  /// By rank: what roots gave to the broadcast that is open.
  std::map<int, wire::Blob> collective_bytes_;
  std::map<std::int64_t, std::shared_ptr<boost::asio::steady_timer>> timers_;
  bool preempted_ = false;
  bool detached_ = false;
};

}  // namespace headway::driver
