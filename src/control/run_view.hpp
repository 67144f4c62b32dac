#pragma once

#include "control/hang_watch.hpp"
#include "control/loop_watch.hpp"
#include "control/run_outcome.hpp"
#include "control/run_state.hpp"
#include "control/worker_group.hpp"
#include "core/json.hpp"
#include "core/preemption.hpp"
#include "core/report_line.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What a run looks like at one moment, for a dashboard or a command that looks and changes
/// nothing. A view is an immutable value: any thread may keep and read it. Times are seconds up to
/// the moment of the view, so a reader needs no clock of the run.
namespace headway::control {

/// One rank of the current attempt.
struct RankView {
  int rank = 0;
  int local_rank = 0;
  std::string node_id;
  std::string hostname;
  std::optional<std::int64_t> pid;  ///< Unset until the process is ready.
  RankPhase phase = RankPhase::starting;
  double phase_for_s = 0;
  bool gone = false;         ///< Its process has ended.
  std::int64_t reports = 0;  ///< Reports that it has begun in this attempt.
  std::string waits_for;     ///< In words; empty while it waits for nothing.
  /// How long it took from the last report but one to the last; unset before its first report.
  std::optional<double> report_s;
  /// What it takes from optimizer step to optimizer step; unset before its second one.
  std::optional<StepView> steps;
};
BOOST_DESCRIBE_STRUCT(RankView, (),
                      (rank, local_rank, node_id, hostname, pid, phase, phase_for_s, gone, reports, waits_for, report_s,
                       steps))

/// The reports that are recorded, and the one that some ranks have come to.
struct ReportsView {
  std::int64_t count = 0;       ///< Recorded, over all attempts and drivers of the run.
  std::int64_t in_attempt = 0;  ///< Recorded in the current attempt.
  /// The last one, with rank 0's metrics; unset until this driver has recorded one.
  std::optional<ReportLine> last;
  std::optional<double> last_ago_s;  ///< How long ago `last` was recorded.
  /// The open report, which some ranks have made: its number in the attempt, from 0.
  std::optional<std::int64_t> open;
  int open_ranks = 0;  ///< How many ranks have made the open report.
};
BOOST_DESCRIBE_STRUCT(ReportsView, (), (count, in_attempt, last, last_ago_s, open, open_ranks))

/// How far the checkpoint of a report is on its way to storage.
enum class PendingStage {
  queued,      ///< It has no checkpoint, and waits for earlier reports.
  beginning,   ///< Its directory is being made.
  uploading,   ///< Ranks store their files.
  uploaded,    ///< Its files are stored; earlier reports come first.
  committing,  ///< Its manifest is being written.
};
BOOST_DESCRIBE_ENUM(PendingStage, queued, beginning, uploading, uploaded, committing)

/// A report that every rank has made and that is not recorded yet.
struct PendingView {
  std::int64_t index = 0;  ///< Its number in the attempt, from 0.
  std::optional<std::string> checkpoint;
  PendingStage stage = PendingStage::queued;
  std::vector<int> uploading;  ///< Ranks that still store files.
  bool asynchronous = false;   ///< Its ranks train while the checkpoint is stored.
  bool answered = false;       ///< Its ranks have returned from it.
};
BOOST_DESCRIBE_STRUCT(PendingView, (), (index, checkpoint, stage, uploading, asynchronous, answered))

enum class ValidationStage {
  waiting,   ///< For another validation's end, or for the first attempt's start.
  starting,  ///< Its process claims what it needs and starts.
  running,   ///< Its function has been called.
  ending     ///< Its outcome is known; its process is ending.
};
BOOST_DESCRIBE_ENUM(ValidationStage, waiting, starting, running, ending)

/// A validation that waits or has a process.
struct ValidationView {
  std::string checkpoint;
  std::int64_t report = 0;  ///< The report's index in the run.
  ValidationStage stage = ValidationStage::waiting;
  std::optional<double> running_for_s;  ///< Since its function was called.
  int deaths = 0;                       ///< Processes that died with it so far.
};
BOOST_DESCRIBE_STRUCT(ValidationView, (), (checkpoint, report, stage, running_for_s, deaths))

/// Who holds up the run at this moment, whether or not that is long enough for a warning.
struct WaitView {
  WaitKind kind = WaitKind::storage;
  std::string words;  ///< As the first line of a warning, without how long.
  double for_s = 0;
  std::vector<int> awaited;  ///< The ranks that the others wait for; empty when it is none of them.
  std::vector<int> waiting;  ///< The ranks that are held up, where it is not the whole run.
};
BOOST_DESCRIBE_STRUCT(WaitView, (), (kind, words, for_s, awaited, waiting))

/// Nodes of the current group that are being taken away.
struct PreemptionView {
  PreemptionInfo info;
  bool ranks_gone = false;  ///< A rank that was needed is gone with its node.
};
BOOST_DESCRIBE_STRUCT(PreemptionView, (), (info, ranks_gone))

/// An attempt that has ended.
struct AttemptView {
  int attempt = 0;
  std::string end;  ///< Why it ended.
};
BOOST_DESCRIBE_STRUCT(AttemptView, (), (attempt, end))

/// The checkpoints that are kept, in order of commit. Views share the list with the run, which
/// replaces the list when it changes.
using KeptCheckpoints = std::shared_ptr<const std::vector<KeptCheckpoint>>;

struct RunView {
  std::string name;
  std::string storage_path;  ///< Without credentials.
  std::string trial_id;
  double taken_unix_s = 0;  ///< Seconds since 1970. Set by the driver.

  RunState state = RunState::created;
  double state_for_s = 0;
  double time_total_s = 0;              ///< Over all drivers, without the time between them.
  int attempt = 0;                      ///< Attempts begun, over all drivers.
  std::optional<double> attempt_for_s;  ///< Unset until this driver has begun an attempt.
  std::vector<AttemptView> ended;       ///< The last attempts that have ended, at most 20.
  /// Of the worker group, under this driver, as the next two.
  int failures = 0;
  int start_failures = 0;
  int preemptions = 0;

  int workers = 0;  ///< Of the current attempt.
  int workers_min = 0;
  int workers_max = 0;
  std::vector<RankView> ranks;
  ReportsView reports;
  std::optional<LoopView> loop;  ///< Unset until rank 0 has made an optimizer step that is counted.
  KeptCheckpoints checkpoints;
  std::vector<PendingView> pending;  ///< In order; the first one is recorded next.
  std::vector<ValidationView> validations;
  std::optional<WaitView> wait;
  std::optional<PreemptionView> preemption;
  std::optional<RunFailure> failure;  ///< Of the current or the last attempt, so far.
  std::optional<std::string> stop_reason;
  std::optional<std::string> abort_reason;
  bool folder_lost = false;
};
BOOST_DESCRIBE_STRUCT(RunView, (),
                      (name, storage_path, trial_id, taken_unix_s, state, state_for_s, time_total_s, attempt,
                       attempt_for_s, ended, failures, start_failures, preemptions, workers, workers_min, workers_max,
                       ranks, reports, loop, checkpoints, pending, validations, wait, preemption, failure, stop_reason,
                       abort_reason, folder_lost))

}  // namespace headway::control
