#pragma once

#include "control/run_outcome.hpp"
#include "core/config.hpp"
#include "core/manifest.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a run's folder says of the run: all that a controller needs to resume it.
namespace headway::control {

/// Version 1 had no owner, no names_given and no time_total_s; it is still read.
inline constexpr int journal_version = 2;

/// run.json: a snapshot, replaced whole. It is written when an attempt starts, when its ranks begin
/// to train, when the next one has to wait, and when the run ends; what happened since is in the
/// checkpoints' manifests, which are the truth for checkpoints, and by result.json.
struct Journal {
  int version = journal_version;
  /// A RunState's name; at the end "finished", "errored" or "aborted".
  std::string state;
  int attempt = 0;  ///< Attempts begun, over all drivers of the run.
  /// Of the worker group, under the driver that wrote this, as the next two.
  int failures = 0;
  int start_failures = 0;                 ///< Groups that could not be started again.
  int preemptions = 0;                    ///< Groups that had to leave a node.
  std::vector<std::string> attempt_ends;  ///< Why each attempt ended, the first one first.
  std::int64_t reports = 0;
  std::int64_t names_given = 0;  ///< Checkpoint names that Headway has given so far.
  double time_total_s = 0;       ///< Of all drivers, without the time between them.
  std::vector<KeptCheckpoint> checkpoints;
  /// Checkpoints that are kept no longer and may still be there.
  std::vector<std::string> to_delete;
  std::optional<std::string> failure;  ///< All words of the failure that ended the run.
  std::optional<std::string> failure_kind;
  std::optional<FailureSource> failure_source;
  std::optional<std::vector<RankFailure>> failed_ranks;
  std::optional<bool> failed_in_collective;
  std::optional<Preemption> preemption;  ///< When that ended the run.
  std::optional<std::string> abort_reason;
  /// Why the run ended before its training functions had returned.
  std::optional<std::string> stop_reason;
  /// Checkpoints that could not be stored, where CheckpointConfig.on_upload_failure is "warn".
  std::optional<std::int64_t> dropped_checkpoints;
  /// By how much the iterations of reports are ahead of their count, since a checkpoint was cloned
  /// from another run.
  std::optional<std::int64_t> iterations_ahead;
  /// Which driver of the run wrote it, from 1: each that takes the run up counts one up.
  std::int64_t owner_epoch = 0;
  std::string owner;          ///< That driver, in words. Written by the driver.
  double written_unix_s = 0;  ///< Seconds since 1970. Written by the driver.
  RunSpec spec;               ///< Without the training function's configuration.
};
BOOST_DESCRIBE_STRUCT(Journal, (),
                      (version, state, attempt, failures, start_failures, preemptions, attempt_ends, reports,
                       names_given, time_total_s, checkpoints, to_delete, failure, failure_kind, failure_source,
                       failed_ranks, failed_in_collective, preemption, abort_reason, stop_reason, dropped_checkpoints,
                       iterations_ahead, owner_epoch, owner, written_unix_s, spec))

/// Text to journal. Errors: `corrupted`, naming `subject`, when it is no journal, or one of a newer
/// version.
Result<Journal> parse_journal(std::string_view text, std::string_view subject);

/// Whether the run had come to its end by itself: nothing is left but further training.
bool is_complete(const Journal& journal);

/// Whether a checkpoint was committed after the journal was written. It then counts, even under a
/// name that the journal gives up.
bool follows(const Manifest& manifest, const Journal& journal);

/// Why the run of this journal is not complete, in words: how it ended, or that its driver ended
/// before it did.
std::string unfinished_reason(const Journal& journal);

/// What result.json holds.
struct FoundResults {
  std::int64_t lines = 0;
  int attempt = 0;          ///< Of the last line; 0: there is none.
  std::int64_t index = -1;  ///< The last line's report within its attempt.
  double time_total_s = 0;
  std::string last_line = {};  ///< Without its end.
};

/// A run that a folder holds already. Nobody else writes to it any more.
struct FoundRun {
  Journal journal;
  std::vector<Manifest> checkpoints;  ///< Committed, in order of commit.
  FoundResults results;
  std::vector<std::string> names;  ///< All that lies in the folder.
};

}  // namespace headway::control
