#pragma once

#include "core/json.hpp"
#include "core/preemption.hpp"
#include "core/report_line.hpp"
#include "core/validation.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headway {
BOOST_DESCRIBE_ENUM(ErrorKind, invalid_argument, not_found, already_exists, unavailable, refused, corrupted, user_code,
                    worker_died, preempted, aborted, superseded, unknown_outcome, internal)
}  // namespace headway

/// What a run leaves: its accepted reports one by one, and its end.
namespace headway::control {

/// A committed checkpoint that is kept.
struct KeptCheckpoint {
  std::string name;
  std::int64_t index = 0;  ///< Order of commit, from 0.
  /// Its report's, and over them those of its validation.
  JsonObject metrics;
  /// The report's index in the run, as its manifest has it.
  std::optional<std::int64_t> report = {};
  std::optional<CheckpointStatus> status = {};  ///< None: COMMITTED.
};
BOOST_DESCRIBE_STRUCT(KeptCheckpoint, (), (name, index, metrics, report, status))

/// How a rank failed.
enum class RankFailureKind {
  exception,             ///< Its training function raised: `exception`.
  death,                 ///< Its process ended before its training function: `exit`, `last_lines`.
  start,                 ///< Its process ended before it was ready: `exit`, `last_lines`.
  lost_node,             ///< Its node is out of reach, for good.
  preemption,            ///< Its node was taken away, with notice.
  hang,                  ///< It was waited for longer than FailureConfig.hang_fail_s.
  unmatched_report,      ///< It returned while other ranks waited for it in a report.
  unmatched_collective,  ///< It returned while other ranks waited for it in a barrier or broadcast.
  different_collective   ///< It called another barrier or broadcast than the ranks before it.
};
BOOST_DESCRIBE_ENUM(RankFailureKind, exception, death, start, lost_node, preemption, hang, unmatched_report,
                    unmatched_collective, different_collective)

/// One rank's part in a failure. Front ends make typed errors of it, and parse no text.
/// All but `rank` and `text` is unset in what an older version has stored.
struct RankFailure {
  int rank = 0;
  std::string text;  ///< Type and words of its exception, or how its process ended.
  std::optional<RankFailureKind> kind = {};
  std::optional<int> attempt = {};
  std::optional<std::int64_t> pid = {};  ///< Unset for a process that was never ready.
  std::optional<std::string> hostname = {};
  std::optional<std::string> node_id = {};
  std::optional<RankError> exception = {};
  std::optional<ExitStatus> exit = {};
  /// What it printed last; empty when it printed nothing.
  std::optional<std::string> last_lines = {};
};
BOOST_DESCRIBE_STRUCT(RankFailure, (), (rank, text, kind, attempt, pid, hostname, node_id, exception, exit, last_lines))

/// A node was taken away from a run, or its driver was.
struct Preemption {
  PreemptionInfo info;
  bool timed_out = false;  ///< Workers were still at work at their deadline.
  /// The driver received SIGTERM. Unset in what an older version has stored.
  std::optional<bool> of_driver = {};
};
BOOST_DESCRIBE_STRUCT(Preemption, (), (info, timed_out, of_driver))

/// Whose failure it was.
enum class FailureSource {
  group,       ///< Ranks, or the nodes that they were on: `ranks` says which, unless nobody knows.
  setup,       ///< The backend's hooks that set a group up: `exception`.
  callback,    ///< A callback of the front end's.
  nodes,       ///< The nodes that the run needs cannot be had.
  storage,     ///< The run's folder or a checkpoint could not be written, or the folder is lost.
  asked,       ///< Somebody asked for the end (Ctrl-C, shutdown).
  controller,  ///< A defect in Headway.
};
BOOST_DESCRIBE_ENUM(FailureSource, group, setup, callback, nodes, storage, asked, controller)

/// Why a run failed. `message` is complete and ready to be shown: it begins with the user's own
/// failure.
struct RunFailure {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::vector<RankFailure> ranks;  ///< Empty when no rank is to blame.
  /// hang_fail_s ended ranks that were in a collective of torch.
  bool in_collective = false;
  std::optional<Preemption> preemption = {};  ///< Of the kind `preempted`.
  FailureSource source = FailureSource::group;
  std::optional<RankError> exception = {};  ///< Of the source `setup`.
};
BOOST_DESCRIBE_STRUCT(RunFailure, (), (kind, message, ranks, in_collective, preemption, source, exception))

/// A failure that no rank is to blame for.
inline RunFailure failure_of(FailureSource source, ErrorKind kind, std::string message) {
  RunFailure failure{kind, std::move(message), {}};
  failure.source = source;
  return failure;
}

struct RunOutcome {
  std::string state;  ///< "finished", "errored" or "aborted".
  std::optional<RunFailure> failure;
  std::vector<KeptCheckpoint> checkpoints;  ///< Oldest first.
  int attempts = 0;
  /// Checkpoints that could not be stored, and whose reports count without them.
  std::int64_t dropped_checkpoints = 0;
};
BOOST_DESCRIBE_STRUCT(RunOutcome, (), (state, failure, checkpoints, attempts, dropped_checkpoints))

}  // namespace headway::control
