#pragma once

#include "control/attempt_times.hpp"
#include "control/data_watch.hpp"
#include "control/journal.hpp"
#include "control/run_outcome.hpp"
#include "core/config.hpp"
#include "core/time.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the controller wants done. The driver carries commands out in order; those that name a
/// completion event answer with it. Whatever ends or restarts something carries its reason in
/// words: the user reads it later.
namespace headway::control {

/// Make the run's folder or take up the one that is there, as its only owner, and prove that it can
/// be written → StoragePrepared.
struct PrepareStorage {};

/// Give back what the run holds, and ask for this → NodesGranted or NodesRefused.
struct AcquireNodes {
  int workers = 1;  ///< As many as there is capacity for, up to this.
  WorkerClaim claim;
  int workers_min = 1;
};

/// How many workers would be granted, were what the run holds given back and asked for again →
/// CapacitySeen.
struct LookForCapacity {
  AcquireNodes wanted;
};

/// Give back what the run holds.
struct ReleaseNodes {
  bool early = false;  ///< Every rank has returned, and its process is about to end.
};

/// Start one process a plan → WorkerReady or WorkerExited for each.
struct StartWorkers {
  int attempt = 0;
  std::vector<WorkerPlan> plans;
  std::optional<std::string> checkpoint;  ///< The directory that get_checkpoint() gives.
  std::string trial_id;
  /// For the user: which workers train where. Empty from the driver's second attempt on, which has
  /// a notice.
  std::string words = {};
};

/// Call the front end's set-up hooks → SetupFinished.
struct RunSetup {
  int attempt = 0;
};

/// Send the training function to every rank.
struct BeginTraining {
  int attempt = 0;
};

/// Make the checkpoint's directory, marked as begun → CheckpointBegun.
struct BeginCheckpoint {
  int attempt = 0;
  std::int64_t index = 0;
  std::string name;
};

/// Upload these files, or, when there are none, have the user's function store the checkpoint under
/// the name → RankUploaded.
struct UploadFiles {
  int attempt = 0;
  int rank = 0;
  std::int64_t index = 0;
  std::string name;
  std::vector<std::string> files;
  bool beside = false;  ///< The directory is the user's, and was not begun.
};

/// Write the manifest → CheckpointCommitted. What the user has stored is listed as it is found; of
/// what ranks have uploaded beside it the manifest has the checksums.
struct CommitCheckpoint {
  std::int64_t index = 0;
  Manifest manifest;
  CheckpointSource source = CheckpointSource::files;
};

/// Remove what was begun and will not be committed.
struct DiscardCheckpoint {
  std::string name;
  std::string reason;
};

/// Remove a checkpoint that is kept no longer → CheckpointDeleted.
struct DeleteCheckpoint {
  std::string name;
  std::string reason;
};

/// Claim what a validation needs, when that is free start its process, and have it call its
/// function with the checkpoint → ValidationStarted; ValidationFinished or ValidationFailed; and,
/// whatever comes, ValidationExited at last.
struct StartValidation {
  std::int64_t number = 0;
  std::string checkpoint;
  ValidationTask task;
  WorkerClaim claim;
};

/// Bring what is new in the ranks' working directories to the run's artifacts/, one copier a node →
/// ArtifactsSynced.
struct SyncArtifacts {
  std::int64_t number = 0;
};

/// Nobody waits for that copy any more: end it.
struct StopSync {
  std::int64_t number = 0;
};

/// The ranks are gone: remove their working directories if they are empty, or if all that is in
/// them was brought to storage; else say where they are.
struct LeaveWorkingDirectory {
  bool synced = false;
};

/// Let a rank's report return, with the checkpoint's name or with an error for all.
struct AnswerReport {
  int attempt = 0;
  int rank = 0;
  std::int64_t index = 0;
  std::optional<std::string> checkpoint;
  std::optional<std::string> error;
  bool dropped = false;  ///< Its checkpoint could not be stored: the report counts without it.
};

/// Let every rank's n-th barrier, broadcast or question for a preemption return, with the bytes
/// that `root` gave when there is one, or with what is known of the preemption.
struct ReleaseCollective {
  int attempt = 0;
  std::int64_t index = 0;
  std::optional<int> root;
  std::optional<PreemptionInfo> preemption = std::nullopt;
};

/// Tell every rank of a checkpoint that was committed after its report had returned.
struct AnnounceCheckpoint {
  int attempt = 0;
  std::int64_t index = 0;
  std::string name;
};

/// → CheckpointsAsked is answered.
struct TellCheckpoints {
  int attempt = 0;
  int rank = 0;
  std::int64_t question = 0;
  std::vector<KeptCheckpoint> checkpoints;
};

/// Add an accepted report to the results (result.json) and to the progress display, and have the
/// run's callbacks hear it.
struct AppendResult {
  ReportLine line;
  /// By rank, where the front end has callbacks → ReportHeard.
  std::optional<std::vector<JsonObject>> rank_metrics = std::nullopt;
};

/// Replace the file with the times of an attempt's ranks. Nothing where it cannot be written.
struct KeepStepTimes {
  AttemptTimes times;
};

/// Replace the file that says how long ranks waited for data. Nothing where it cannot be written.
struct KeepDataTimes {
  DataTimes times;
};

/// An attempt has failed: the front end's callbacks hear of it.
struct TellFailure {
  int failed_attempt = 0;
  RunFailure failure;
};

/// Call the front end's tear-down hooks → TeardownFinished.
struct RunTeardown {
  int attempt = 0;
};

enum class EndMode {
  graceful,   ///< Exit handlers and flushes, then exit.
  terminate,  ///< SIGTERM.
  kill        ///< SIGKILL, to everything that the worker started too.
};

/// End the attempt's processes → GroupEnded once all are gone. May be given again, harder.
struct EndWorkers {
  int attempt = 0;
  EndMode mode = EndMode::kill;
  std::string reason;
};

/// End a validation's process, or withdraw what it waits for. May be given again, harder.
struct EndValidation {
  std::int64_t number = 0;
  EndMode mode = EndMode::kill;
  std::string reason;
};

/// Look at what these ranks are doing (the process's state, its stacks), and with `hook` at the
/// thread that is in a hook of the front end → RanksExamined, within about a minute.
struct ExamineRanks {
  int attempt = 0;
  std::int64_t examination = 0;
  std::vector<int> ranks;
  bool hook = false;
};

/// Have the hook that the front end is in raise an error, as soon as it can: its attempt has ended.
struct InterruptHook {
  int attempt = 0;
  std::string reason;
};

/// Ask every rank where it stands in its collectives → CollectivesSeen from each that can answer.
struct LookAtCollectives {
  int attempt = 0;
  std::int64_t look = 0;
};

/// Remove what earlier attempts (and earlier drivers) began and did not commit. Done before the
/// next BeginCheckpoint takes effect.
struct SweepStorage {};

/// → TimerFired at `at`.
struct SetTimer {
  std::int64_t timer = 0;
  Time at{};
};

/// Bring the run's small files (result.json, logs/) that have changed to remote storage →
/// FolderSynced.
struct SyncFolder {};

/// Replace run.json → JournalWritten.
struct WriteJournal {
  Journal snapshot;
};

/// Show a warning once.
struct Warn {
  std::string text;
  bool urgent = false;  ///< Also while a hook holds up the front end.
};

/// Tell the user what is going on (a restart and its reason, for example).
struct Notify {
  std::string text;
};

/// The run has ended; no command follows.
struct Finish {
  RunOutcome outcome;
  bool folder_lost = false;  ///< Nothing more may be written to it.
  std::string words = {};    ///< For the user: how the run ended. Empty when nothing has begun.
};

using Command =
    std::variant<PrepareStorage, AcquireNodes, ReleaseNodes, LookForCapacity, StartWorkers, RunSetup, BeginTraining,
                 BeginCheckpoint, UploadFiles, CommitCheckpoint, DiscardCheckpoint, DeleteCheckpoint, StartValidation,
                 EndValidation, TellCheckpoints, SyncArtifacts, StopSync, LeaveWorkingDirectory, AnswerReport,
                 ReleaseCollective, AnnounceCheckpoint, AppendResult, KeepStepTimes, KeepDataTimes, TellFailure,
                 RunTeardown, EndWorkers, ExamineRanks, LookAtCollectives, InterruptHook, SweepStorage, SetTimer,
                 SyncFolder, WriteJournal, Warn, Notify, Finish>;
using Commands = std::vector<Command>;

}  // namespace headway::control
