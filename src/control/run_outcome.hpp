#pragma once

#include "core/json.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a run leaves: its accepted reports one by one, and its end.
namespace headway::control {

/// One accepted report. Written to result.json with the automatic metrics beside the user's.
struct ReportLine {
  std::int64_t index = 0;  ///< Within the attempt, from 0.
  int attempt = 1;
  std::int64_t iteration = 0;  ///< Over all attempts, from 1.
  std::int64_t iterations_since_restore = 0;
  double time_this_iter_s = 0;
  double time_total_s = 0;
  double time_since_restore_s = 0;
  std::int64_t pid = 0;  ///< Rank 0's.
  std::string hostname;
  std::string node_ip;
  std::optional<std::string> checkpoint;  ///< The committed checkpoint's name.
  JsonObject metrics;                     ///< Rank 0's own.
};

/// A committed checkpoint that is kept.
struct KeptCheckpoint {
  std::string name;
  std::int64_t index = 0;  ///< Order of commit, from 0.
  JsonObject metrics;
};
BOOST_DESCRIBE_STRUCT(KeptCheckpoint, (), (name, index, metrics))

/// One rank's part in a failure.
struct RankFailure {
  int rank = 0;
  std::string text;  ///< Type and words of its exception, or how its process ended.
};
BOOST_DESCRIBE_STRUCT(RankFailure, (), (rank, text))

/// Why a run failed. `message` is complete and ready to be shown: it begins with the user's own failure.
struct RunFailure {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::vector<RankFailure> ranks;  ///< Empty when no rank is to blame.
};

struct RunOutcome {
  std::string state;  ///< "finished", "errored" or "aborted".
  std::optional<RunFailure> failure;
  std::vector<KeptCheckpoint> checkpoints;  ///< Oldest first.
  int attempts = 0;
};

}  // namespace headway::control
