#pragma once

#include "core/collectives.hpp"
#include "core/config.hpp"
#include "core/loop_progress.hpp"
#include "core/reduction.hpp"
#include "core/stage_counters.hpp"
#include "core/worker.hpp"
#include "wire/frame_bounds.hpp"
#include "wire/worker_role.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the driver and a worker's session say to each other.
namespace headway::wire {

/// A checkpoint as a rank hears of it.
struct ToldCheckpoint {
  std::string checkpoint;  ///< Its directory.
  JsonObject metrics;
  CheckpointStatus status = CheckpointStatus::COMMITTED;
};
BOOST_DESCRIBE_STRUCT(ToldCheckpoint, (), (checkpoint, metrics, status))

/// The first message to a worker: who it is.
struct StartSession {
  static constexpr std::string_view is = "StartSession";
  static constexpr FrameBounds bounds = user_values;
  WorkerPlan plan;  ///< Of a process that is no rank only the slot counts.
  std::string run_name;
  std::string run_directory;
  std::string trial_id;
  Resources resources;   ///< What the worker may use.
  JsonObject metadata;   ///< The trainer's.
  JsonObject setup;      ///< From the front end, for its own worker side.
  JsonObject role = {};  ///< What the worker is for; see worker_role.hpp.
  /// Of a helper process: by it the helpers of one driver know each other (cluster/peers.hpp).
  std::string peer_token = {};
};
BOOST_DESCRIBE_STRUCT(StartSession, (),
                      (plan, run_name, run_directory, trial_id, resources, metadata, setup, role, peer_token))

/// Call the pickled function in the raw part and answer with its value.
struct Execute {
  static constexpr std::string_view is = "Execute";
  static constexpr FrameBounds bounds = user_bytes;
  std::int64_t call_id = 0;
};
BOOST_DESCRIBE_STRUCT(Execute, (), (call_id))

/// Run the training function in the raw part.
struct Train {
  static constexpr std::string_view is = "Train";
  static constexpr FrameBounds bounds = user_bytes;
};
BOOST_DESCRIBE_STRUCT(Train, (), ())

/// Bring these of your files of report `index` into `directory`, which is called `name` in the
/// run's folder; or have the user's function do it, if the report came with one.
struct Upload {
  static constexpr std::string_view is = "Upload";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t index = 0;
  std::string directory;
  std::string name;
  std::vector<std::string> files;
  bool beside = false;  ///< The directory is the user's, and was not begun.
};
BOOST_DESCRIBE_STRUCT(Upload, (), (index, directory, name, files, beside))

/// Report `index` has ended: accepted, or refused for everybody with an error.
struct ReportAnswered {
  static constexpr std::string_view is = "ReportAnswered";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t index = 0;
  /// The committed directory, when the report carried a checkpoint.
  std::optional<std::string> checkpoint;
  std::optional<std::string> error;
  bool dropped = false;  ///< The checkpoint could not be stored: the report counts without it.
};
BOOST_DESCRIBE_STRUCT(ReportAnswered, (), (index, checkpoint, error, dropped))

/// This process is about to be ended: a report in which it waits returns with an error, so that it
/// can clean up.
struct LeaveReport {
  static constexpr std::string_view is = "LeaveReport";
};
BOOST_DESCRIBE_STRUCT(LeaveReport, (), ())

/// The n-th barrier or broadcast has ended; the raw part is what the root gave.
struct CollectiveDone {
  static constexpr std::string_view is = "CollectiveDone";
  static constexpr FrameBounds bounds = user_bytes;
  std::int64_t index = 0;
};
BOOST_DESCRIBE_STRUCT(CollectiveDone, (), (index))

/// A checkpoint whose report had returned before is committed now.
struct CheckpointStored {
  static constexpr std::string_view is = "CheckpointStored";
  std::int64_t index = 0;
  std::string checkpoint;  ///< Its directory.
};
BOOST_DESCRIBE_STRUCT(CheckpointStored, (), (index, checkpoint))

/// The answer to AskCheckpoints, oldest first.
struct CheckpointsTold {
  static constexpr std::string_view is = "CheckpointsTold";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t question = 0;
  std::vector<ToldCheckpoint> checkpoints;
};
BOOST_DESCRIBE_STRUCT(CheckpointsTold, (), (question, checkpoints))

/// Say where you stand in your process groups' collectives, if you can.
struct TellCollectives {
  static constexpr std::string_view is = "TellCollectives";
  std::int64_t look = 0;
};
BOOST_DESCRIBE_STRUCT(TellCollectives, (), (look))

/// Say what your threads are doing, if you can.
struct TellStacks {
  static constexpr std::string_view is = "TellStacks";
  std::int64_t examination = 0;
};
BOOST_DESCRIBE_STRUCT(TellStacks, (), (examination))

/// Copy what is new in the working directory of this node's ranks to the run's artifacts/ →
/// ArtifactsBrought.
struct BringArtifacts {
  static constexpr std::string_view is = "BringArtifacts";
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(BringArtifacts, (), (number))

/// Nobody waits for that any more.
struct StopBringing {
  static constexpr std::string_view is = "StopBringing";
};
BOOST_DESCRIBE_STRUCT(StopBringing, (), ())

/// All of it is there: the working directory goes.
struct RemoveWorkingDirectory {
  static constexpr std::string_view is = "RemoveWorkingDirectory";
};
BOOST_DESCRIBE_STRUCT(RemoveWorkingDirectory, (), ())

/// Run exit handlers, flush, and exit.
struct EndSession {
  static constexpr std::string_view is = "EndSession";
};
BOOST_DESCRIBE_STRUCT(EndSession, (), ())

using ToWorker = std::variant<StartSession, Execute, Train, Upload, ReportAnswered, CheckpointStored, CheckpointsTold,
                              CollectiveDone, TellCollectives, TellStacks, BringArtifacts, StopBringing,
                              RemoveWorkingDirectory, EndSession, LeaveReport>;

struct SessionReady {
  static constexpr std::string_view is = "SessionReady";
  std::int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(SessionReady, (), (pid))

/// The answer to Execute; the raw part is the pickled value, or the pickled exception when `error`
/// is there.
struct Executed {
  static constexpr std::string_view is = "Executed";
  static constexpr FrameBounds bounds = user_bytes;
  std::int64_t call_id = 0;
  std::optional<RankError> error;
};
BOOST_DESCRIBE_STRUCT(Executed, (), (call_id, error))

struct Reported {
  static constexpr std::string_view is = "Reported";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t index = 0;
  JsonObject metrics;
  std::optional<CheckpointOffer> checkpoint;
  std::optional<ValidationTask> validation;
  std::optional<ReductionPlan> reduce = {};
  std::optional<JsonObject> data = {};  ///< Rank 0's position in each data set.
};
BOOST_DESCRIBE_STRUCT(Reported, (), (index, metrics, checkpoint, validation, reduce, data))

/// A question about all checkpoints; control/events.hpp says when it is answered.
struct AskCheckpoints {
  static constexpr std::string_view is = "AskCheckpoints";
  std::int64_t question = 0;
  std::int64_t reports = 0;
  bool validated = false;
  std::optional<double> timeout_s;
};
BOOST_DESCRIBE_STRUCT(AskCheckpoints, (), (question, reports, validated, timeout_s))

/// A runtime inside of this worker wants to be a guest of the driver's. Descriptor: the driver's
/// end of the socket that they are to speak on (wire/guest_messages.hpp).
struct OpenRuntime {
  static constexpr std::string_view is = "OpenRuntime";
  static constexpr FrameBounds bounds = with_fds(1);
};
BOOST_DESCRIBE_STRUCT(OpenRuntime, (), ())

/// The validation function returned these.
struct Validated {
  static constexpr std::string_view is = "Validated";
  static constexpr FrameBounds bounds = user_values;
  JsonObject metrics;
};
BOOST_DESCRIBE_STRUCT(Validated, (), (metrics))

struct ArtifactsBrought {
  static constexpr std::string_view is = "ArtifactsBrought";
  std::int64_t number = 0;
  std::optional<std::string> error;
};
BOOST_DESCRIBE_STRUCT(ArtifactsBrought, (), (number, error))

/// This rank waits in its n-th barrier or broadcast; the raw part is what it gives as a broadcast's
/// root.
struct Arrived {
  static constexpr std::string_view is = "Arrived";
  static constexpr FrameBounds bounds = user_bytes;
  std::int64_t index = 0;
  std::string kind;
  int root = 0;
};
BOOST_DESCRIBE_STRUCT(Arrived, (), (index, kind, root))

struct Uploaded {
  static constexpr std::string_view is = "Uploaded";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t index = 0;
  std::vector<FileRecord> files;
  std::optional<std::string> error;
  /// Where the user's function has put the checkpoint, in the run's folder.
  std::optional<std::string> stored_name;
  /// This node does not see the directory that was made for the checkpoint.
  bool unseen = false;
};
BOOST_DESCRIBE_STRUCT(Uploaded, (), (index, files, error, stored_name, unseen))

struct CollectivesTold {
  static constexpr std::string_view is = "CollectivesTold";
  std::int64_t look = 0;
  std::vector<GroupPosition> positions;
};
BOOST_DESCRIBE_STRUCT(CollectivesTold, (), (look, positions))

/// In lines for the user.
struct StacksTold {
  static constexpr std::string_view is = "StacksTold";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t examination = 0;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(StacksTold, (), (examination, text))

/// What this rank's loop has done so far.
struct Progressed {
  static constexpr std::string_view is = "Progressed";
  LoopProgress progress;
};
BOOST_DESCRIBE_STRUCT(Progressed, (), (progress))

/// How long this rank waits for a data set.
struct DataProgressed {
  static constexpr std::string_view is = "DataProgressed";
  static constexpr FrameBounds bounds = user_values;
  DataProgress progress;
};
BOOST_DESCRIBE_STRUCT(DataProgressed, (), (progress))

/// The data process of this rank's node listens at `port` of its address for processes of other
/// nodes that call Python functions for it: up to `workers` of them, as far as nodes have CPUs that
/// nobody else wants. The last one of a rank counts.
struct FunctionWorkersWanted {
  static constexpr std::string_view is = "FunctionWorkersWanted";
  int port = 0;
  std::string token;           ///< That they are to have. Each data process has another one.
  std::optional<int> workers;  ///< Unset: as many as there are CPUs for.
  double cpus = 1;             ///< Of each.
  Labels labels;               ///< What a node must match.
};
BOOST_DESCRIBE_STRUCT(FunctionWorkersWanted, (), (port, token, workers, cpus, labels))

/// The training function returned; the raw part is its pickled value.
struct TrainingReturned {
  static constexpr std::string_view is = "TrainingReturned";
  static constexpr FrameBounds bounds = user_bytes;
};
BOOST_DESCRIBE_STRUCT(TrainingReturned, (), ())

/// The training function raised; the raw part is the pickled exception (empty when it can't be
/// pickled).
struct TrainingRaised {
  static constexpr std::string_view is = "TrainingRaised";
  static constexpr FrameBounds bounds = user_bytes;
  RankError error;
};
BOOST_DESCRIBE_STRUCT(TrainingRaised, (), (error))

using FromWorker = std::variant<SessionReady, Executed, Reported, Arrived, Uploaded, AskCheckpoints, OpenRuntime,
                                Validated, ArtifactsBrought, CollectivesTold, StacksTold, Progressed, DataProgressed,
                                FunctionWorkersWanted, TrainingReturned, TrainingRaised>;

/// Whether the names in a worker's message stay within its run's folder: its process may run
/// anybody's code.
Result<void> check_message(const FromWorker& message);

}  // namespace headway::wire
