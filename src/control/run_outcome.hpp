#pragma once

#include "core/json.hpp"
#include "core/preemption.hpp"
#include "core/report_line.hpp"
#include "core/validation.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a run leaves: its accepted reports one by one, and its end.
namespace headway::control {

/// A committed checkpoint that is kept.
struct KeptCheckpoint {
  std::string name;
  std::int64_t index = 0;                       ///< Order of commit, from 0.
  JsonObject metrics;                           ///< Its report's, and over them those of its validation.
  std::optional<std::int64_t> report = {};      ///< The report's index in the run, as its manifest has it.
  std::optional<CheckpointStatus> status = {};  ///< None: COMMITTED.
};
BOOST_DESCRIBE_STRUCT(KeptCheckpoint, (), (name, index, metrics, report, status))

/// One rank's part in a failure.
struct RankFailure {
  int rank = 0;
  std::string text;  ///< Type and words of its exception, or how its process ended.
};
BOOST_DESCRIBE_STRUCT(RankFailure, (), (rank, text))

/// A node was taken away from a run.
struct Preemption {
  PreemptionInfo info;
  bool timed_out = false;  ///< Workers were still at work when their time was over.
};
BOOST_DESCRIBE_STRUCT(Preemption, (), (info, timed_out))

/// Why a run failed. `message` is complete and ready to be shown: it begins with the user's own failure.
struct RunFailure {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::vector<RankFailure> ranks;             ///< Empty when no rank is to blame.
  bool in_collective = false;                 ///< hang_fail_s ended ranks that were in a collective of torch.
  std::optional<Preemption> preemption = {};  ///< Of the kind `preempted`.
};

struct RunOutcome {
  std::string state;  ///< "finished", "errored" or "aborted".
  std::optional<RunFailure> failure;
  std::vector<KeptCheckpoint> checkpoints;  ///< Oldest first.
  int attempts = 0;
};

}  // namespace headway::control
