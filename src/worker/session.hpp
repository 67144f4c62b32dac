#pragma once

#include "wire/frame.hpp"
#include "wire/session_messages.hpp"
#include "wire/thread_pool.hpp"
#include "worker/artifact_carrier.hpp"
#include "worker/step_clock.hpp"
#include "worker/teller.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <thread>

namespace headway::worker {

/// What the worker's main thread is to do next.
struct Task {
  enum class Kind { execute, train, end };
  Kind kind = Kind::end;
  std::int64_t call_id = 0;
  wire::Blob function;
};

/// A report as the training function gives it.
struct ReportRequest {
  JsonObject metrics;
  std::optional<std::string> checkpoint_directory;  ///< Local files to put into the checkpoint.
  std::optional<std::string> checkpoint_name;       ///< The name that the user wants.
  /// What the user calls that argument, for messages.
  std::string name_argument;
  /// The directory is handed over: its files may be moved, and it is removed when they are stored.
  /// A committed checkpoint is copied and stays, and so does a directory that holds the run's
  /// folder or the current one.
  bool move = false;
  /// Return once the driver knows of the checkpoint; it is stored meanwhile.
  bool asynchronous = false;
  /// `placed`: `checkpoint_directory` lies in the run's folder, with its files, or will.
  CheckpointSource source = CheckpointSource::files;
  /// Of the source `function`: stores the checkpoint under the name in the run's folder that it is
  /// given, and returns the directory where it has put it. Called on the thread that reports, or,
  /// with an asynchronous report, on a thread of the session.
  std::function<Result<std::string>(const std::string& name)> store = nullptr;
  std::optional<ValidationTask> validation = {};  ///< Of the checkpoint; rank 0's counts.
  /// Of the metrics, over the ranks; rank 0's counts.
  std::optional<ReductionPlan> reduce = {};
};

/// What a session does when its driver is gone.
enum class DriverGone {
  end_process,  ///< Nobody would take the results, and nobody would end this process.
  end_session   ///< This process lives on without a session.
};

/// The end of the session in the worker: who this worker is, its tasks, its reports. A separate
/// thread listens to the driver and needs no interpreter; when the driver is gone it ends the
/// process at once, unless the process may live on without a session.
///
/// `next_task` and the answers to tasks belong to the main thread; `report` may be called from any
/// thread, by one at a time.
class Session {
 public:
  /// Takes `fd`, the session's socket. Blocks for the first message.
  /// Errors: `unknown_outcome` when the driver is gone, `corrupted`.
  static Result<std::unique_ptr<Session>> open(int fd, DriverGone gone = DriverGone::end_process);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const wire::StartSession& context() const { return context_; }
  /// What this process is for.
  const wire::WorkerRole& role() const { return role_; }
  /// The directory that get_checkpoint() gives: the newest committed one that this worker knows of.
  std::optional<std::string> checkpoint() const;

  /// Whether nothing that is done here counts any more: the driver has ended the session, or is
  /// about to end this process.
  bool over() const;

  /// Tells the driver that this worker is ready.
  void announce();
  /// Blocks until there is something to do. In a forked child of the worker: the end.
  Task next_task();
  void answer_call(std::int64_t call_id, const std::optional<RankError>& error, wire::Blob value);
  void training_returned(wire::Blob value);
  void training_raised(const RankError& error, wire::Blob exception);
  /// The socket on which a runtime in this process speaks to the driver, as its guest; it is the
  /// caller's. Errors: `unavailable`.
  Result<int> open_runtime();
  /// Of a worker that validates a checkpoint: what its function returned.
  void validated(const JsonObject& metrics);

  /// The checkpoints that are kept, oldest first, once those of this rank's reports so far are
  /// committed and, with `validated`, none is to be validated any more; or what is known after
  /// `timeout_s` seconds.
  /// Errors: `invalid_argument` in a child process, or after the training function has returned.
  Result<std::vector<wire::ToldCheckpoint>> ask_checkpoints(bool validated, std::optional<double> timeout_s);

  /// `tell` says where this rank stands in its collectives, as a JSON list of GroupPosition. It is
  /// called whenever the driver asks, on a separate thread: if it blocks, no more questions are
  /// answered, and nothing else happens.
  void tell_collectives_by(std::function<std::string()> tell);

  /// The end of a session whose process lives on; not under a lock that `tell` of
  /// `tell_collectives_by` needs. Waits for what is under way.
  void close();
  /// `tell` says what the threads of this process are doing, in lines for the user. It is called as
  /// that of `tell_collectives_by`.
  void tell_stacks_by(std::function<std::string()> tell);

  /// Counts what the training loop does, for the driver. Only in a rank.
  StepClock& steps() { return *steps_; }
  /// An optimizer has made its step. Returns whether `send_progress` is due.
  bool stepped(std::int64_t optimizer);
  /// Sends the driver what the loop has done, if anything is new.
  void send_progress();

  /// Sends the driver how long this rank waits for a data set.
  void send_data_progress(const DataProgress& progress);

  /// Asks the driver for processes on other nodes that call Python functions for the data process
  /// of this one. Those that come connect to it.
  void want_function_workers(const wire::FunctionWorkersWanted& wanted);

  /// Returns when nothing of asynchronous reports, or of artifacts, is left to do here. For the
  /// end, after Task::Kind::end.
  void finish_uploads();

  /// Where the data sets stood, by name, when the checkpoint was made that this attempt began with:
  /// `data::Cursor`s. Empty without one, and with one of another run. From then on reports say the
  /// same of data sets that `set_data_cursors` does not name. Reads the manifest, once.
  /// Errors: those of storage::read_manifest.
  Result<JsonObject> data_cursors();
  /// Where data sets stand now, by name; others stay where they were. The next report of rank 0
  /// puts all of them into its checkpoint's manifest.
  void set_data_cursors(const JsonObject& cursors);

  /// The barrier of all ranks. Returns when the report is accepted and, with a synchronous
  /// checkpoint, when that is durable; then the committed checkpoint's directory, if any. Errors:
  /// `invalid_argument` (nothing was sent), `unavailable` (refused for all ranks alike), `aborted`
  /// (over()).
  Result<std::optional<std::string>> report(ReportRequest request);

  /// A barrier or broadcast of all ranks; returns what `root` gave (null: nothing). One call at a
  /// time.
  /// Errors: `invalid_argument` (a root that is no rank, a call by two threads at once, by a child
  /// process, after the function's return).
  Result<wire::Blob> collective(const std::string& kind, int root, wire::Blob bytes);
  /// What is known of nodes that are taken away from the group, as a PreemptionInfo in JSON; null:
  /// nothing. A barrier of all ranks, with the errors of `collective`.
  Result<wire::Blob> preemption_info(const std::string& asked_by);

 private:
  Session(wire::Fd fd, DriverGone gone);
  /// Whether this is a process that the worker's code has forked: it has the memory, but not the
  /// connection.
  bool in_child() const;
  Result<wire::Blob> gather(const std::string& kind, int root, const wire::Blob& given);
  Result<wire::Blob> await_gathered();
  void listen();
  void end();
  void take(wire::ToWorker message, wire::Blob blob);
  /// Before there is work for `uploads_`. Errors: those of wire::ThreadPool::start.
  Result<void> start_uploads();
  void carry(std::function<void()> work);
  void answer_collectives(std::int64_t look);
  void answer_stacks(std::int64_t examination);
  /// Errors: `invalid_argument` when it is too large; nothing was sent then.
  template <class M>
  Result<void> send(const M& message, wire::Blob blob = nullptr, std::vector<wire::Fd> fds = {});
  Result<CheckpointOffer> offer(const ReportRequest& request) const;
  std::optional<JsonObject> data_to_report() const;
  wire::Uploaded store(const wire::Upload& order, const ReportRequest& request) const;
  void upload(const wire::Upload& order, const ReportRequest& request);
  void take_stored(const wire::CheckpointStored& stored);
  void remove_handed_over(const ReportRequest& request) const;
  std::optional<wire::ReportAnswered> await_answer(const ReportRequest& request);

  wire::Fd fd_;
  pid_t pid_;
  DriverGone gone_;
  wire::StartSession context_;
  wire::WorkerRole role_;
  std::unique_ptr<StepClock> steps_;
  std::mutex send_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::optional<JsonObject> data_found_;  ///< In the checkpoint that this attempt began with.
  JsonObject data_now_;                   ///< What the next report says.
  std::optional<wire::Upload> upload_order_;
  std::optional<wire::ReportAnswered> answer_;
  std::optional<std::string> checkpoint_;
  std::int64_t questions_ = 0;
  std::map<std::int64_t, std::vector<wire::ToldCheckpoint>> told_;  ///< Answers, by question.
  bool over_ = false;
  std::atomic<bool> reporting_{false};
  std::atomic<bool> function_over_{false};
  std::atomic<std::int64_t> report_index_{0};
  std::atomic<bool> gathering_{false};
  std::int64_t collective_index_ = 0;
  std::optional<wire::Blob> gathered_;
  /// Asynchronous reports that are not stored yet.
  std::map<std::int64_t, ReportRequest> meanwhile_;
  /// One thread, from the first asynchronous report on.
  std::unique_ptr<wire::ThreadPool> uploads_;
  std::unique_ptr<ArtifactCarrier> carrier_;  ///< Of the role for it; used on that thread.
  std::stop_source bringing_;                 ///< What it was asked last.
  std::function<std::string()> tell_collectives_;
  std::function<std::string()> tell_stacks_;
  Teller collectives_teller_;
  Teller stacks_teller_;
  std::atomic<bool> closing_{false};
  OwnThread listener_;
};

}  // namespace headway::worker
