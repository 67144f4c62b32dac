#pragma once

#include "control/journal.hpp"
#include "core/collectives.hpp"
#include "core/config.hpp"
#include "core/loop_progress.hpp"
#include "core/process_seen.hpp"
#include "core/reduction.hpp"
#include "core/stage_counters.hpp"
#include "core/time.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What can happen to a run. Events of an attempt carry its number; those of an attempt that has
/// ended are ignored.
namespace headway::control {

struct StartAsked {};

/// The storage was probed, and the run's folder made, or found with a run in it, which is resumed.
struct StoragePrepared {
  std::optional<Error> error;
  std::optional<FoundRun> found = {};
  std::vector<std::string> warnings = {};  ///< To be shown.
};

/// One slot for each rank, in rank order.
struct NodesGranted {
  std::vector<Slot> slots;
  std::vector<std::string> warnings;  ///< To be shown once, such as more workers than CPUs.
};

struct NodesRefused {
  Error error;
};

/// A node is out of reach, for good. The run's workers there may live on for a while, unseen: their
/// exits are reported once none can.
struct NodeLost {
  std::string node_id;
  std::string reason;
};

/// A node will be taken away: nothing more is placed there, and what runs there may go on for a
/// while.
struct NodePreempted {
  std::string node_id;
  double grace_s = 0;            ///< Until it goes.
  std::int64_t deadline_ms = 0;  ///< The same, in milliseconds since 1970, for people and programs.
};

/// The driver's process received SIGTERM. It is to end, with all of its runs: the ranks may save a
/// checkpoint until the deadline. A second such event: the run ends now.
struct DriverPreempted {
  double notice_s = 0;           ///< Until the deadline.
  std::int64_t deadline_ms = 0;  ///< The same, in milliseconds since 1970, for people and programs.
};

/// There may be capacity for more workers than before.
struct CapacityChanged {};

/// The answer to LookForCapacity.
struct CapacitySeen {
  int workers = 0;
};

struct WorkerReady {
  int attempt = 0;
  int rank = 0;
  std::int64_t pid = 0;
};

/// The front end's hooks that set a group up (process groups and the like) are through.
struct SetupFinished {
  int attempt = 0;
  std::optional<RankError> error;
};

struct RankReported {
  int attempt = 0;
  int rank = 0;
  std::int64_t index = 0;
  JsonObject metrics;
  std::optional<CheckpointOffer> checkpoint;
  std::optional<ValidationTask> validation = {};  ///< Of its checkpoint; rank 0's counts.
  /// Of its metrics, over the ranks; rank 0's counts.
  std::optional<ReductionPlan> reduce = {};
  std::optional<JsonObject> data = {};  ///< Its position in each data set; rank 0's counts.
};

/// A rank wants to know of all checkpoints that are kept, once those of its first `reports` reports
/// are committed, and, with `validated`, no validation is left; or when the time has passed.
struct CheckpointsAsked {
  int attempt = 0;
  int rank = 0;
  std::int64_t question = 0;
  std::int64_t reports = 0;
  bool validated = false;
  std::optional<double> timeout_s;
};

/// A rank waits in its n-th barrier or broadcast. What it gave, if anything, stays with the driver.
struct RankArrived {
  int attempt = 0;
  int rank = 0;
  std::int64_t index = 0;
  std::string kind;
  int root = 0;
};

struct CheckpointBegun {
  int attempt = 0;
  std::int64_t index = 0;
  std::optional<Error> error;
};

struct RankUploaded {
  int attempt = 0;
  int rank = 0;
  std::int64_t index = 0;
  std::vector<FileRecord> files;
  std::optional<std::string> error;
  std::optional<std::string> stored_name =
      std::nullopt;  ///< Of the source `function`: the directory that the user's function made.
  /// The rank's node does not see the directory that was made for the checkpoint.
  bool unseen = false;
};

struct CheckpointCommitted {
  std::int64_t index = 0;
  std::optional<Error> error;
};

/// Somebody else needs these checkpoints, and no others any more: they are kept until another such
/// event leaves them out.
struct CheckpointsPinned {
  std::vector<std::string> names;
};

struct CheckpointDeleted {
  std::string name;
  std::optional<Error> error;  ///< `not_found`: it is gone already.
};

/// The process of the validation `number` has begun with its function.
struct ValidationStarted {
  std::int64_t number = 0;
};

struct ValidationFinished {
  std::int64_t number = 0;
  JsonObject metrics;
};

/// Its function raised, or no machine has what it claims.
struct ValidationFailed {
  std::int64_t number = 0;
  RankError error;
};

/// The last event of each StartValidation: its process is gone, and what it claimed is given back.
struct ValidationExited {
  std::int64_t number = 0;
  ExitStatus status;
  std::string log_tail;
};

/// The copy `number` has come to its end.
struct ArtifactsSynced {
  std::int64_t number = 0;
  std::optional<std::string> error;
};

/// What a rank's loop has done so far in this attempt; each second of rank 0.
struct RankProgressed {
  int attempt = 0;
  int rank = 0;
  LoopProgress progress;
};

/// How long a rank waits for one of its data sets.
struct RankDataProgressed {
  int attempt = 0;
  int rank = 0;
  DataProgress progress;
};

struct RankReturned {
  int attempt = 0;
  int rank = 0;
};

struct RankRaised {
  int attempt = 0;
  int rank = 0;
  RankError error;
};

/// The worker's process is gone, and all that it had said before was delivered.
struct WorkerExited {
  int attempt = 0;
  int rank = 0;
  ExitStatus status;
  std::string log_tail;  ///< The last lines of its output.
};

/// Every process of the attempt is gone.
struct GroupEnded {
  int attempt = 0;
};

struct TeardownFinished {
  int attempt = 0;
};

/// Hooks of the front end have called a function in these ranks …
struct RanksCalled {
  int attempt = 0;
  std::vector<int> ranks;
};

/// … and this one has answered one of its calls.
struct CallAnswered {
  int attempt = 0;
  int rank = 0;
};

/// What was seen.
struct RanksExamined {
  int attempt = 0;
  std::int64_t examination = 0;
  std::map<int, ProcessSeen> processes;  ///< By rank.
  std::string hook_text;                 ///< Lines for the user.
};

struct CollectivesSeen {
  int attempt = 0;
  int rank = 0;
  std::int64_t look = 0;
  std::vector<GroupPosition> positions;
};

struct FolderSynced {
  std::optional<Error> error;
};

struct JournalWritten {
  std::optional<Error> error;
};

/// The run's callbacks have heard the oldest report that they had not.
struct ReportHeard {};

/// One of them has raised.
struct FrontFailed {
  std::string message;
};

/// The user's conditions say that the run has got far enough: it ends as finished.
struct StopAsked {
  std::string reason;
};

struct AbortAsked {
  std::string reason;
};

/// The driver ends now, and the run's processes with it: what follows is written, but no event
/// comes any more.
struct DriverEnding {
  std::string reason;
};

/// The folder with the run's results is gone: it was deleted or renamed under the run.
struct FolderLost {
  Error error;
};

struct TimerFired {
  std::int64_t timer = 0;
};

using Event =
    std::variant<StartAsked, StoragePrepared, NodesGranted, NodesRefused, NodeLost, NodePreempted, DriverPreempted,
                 CapacityChanged, CapacitySeen, WorkerReady, SetupFinished, RankReported, RankArrived, CheckpointBegun,
                 RankUploaded, CheckpointCommitted, CheckpointsPinned, CheckpointDeleted, ArtifactsSynced,
                 RankProgressed, RankDataProgressed, RankReturned, RankRaised, WorkerExited, GroupEnded,
                 TeardownFinished, RanksCalled, CallAnswered, RanksExamined, CollectivesSeen, CheckpointsAsked,
                 ValidationStarted, ValidationFinished, ValidationFailed, ValidationExited, FolderSynced,
                 JournalWritten, ReportHeard, FrontFailed, StopAsked, AbortAsked, DriverEnding, FolderLost, TimerFired>;

}  // namespace headway::control
