#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// history.jsonl in a run's folder: what has happened to the run, one event a line, over all its
/// drivers. For those who look at it, while it is at work or later; nothing is decided by it, so it
/// is not fsynced, and a line that could not be written is missing.
namespace headway::driver {

/// An attempt's processes start.
struct AttemptBegan {
  static constexpr const char* is = "attempt_began";
  int attempt = 0;
  std::vector<std::string> hosts;         ///< By rank.
  std::optional<std::string> checkpoint;  ///< It resumes from there: the directory's name.
};
BOOST_DESCRIBE_STRUCT(AttemptBegan, (), (attempt, hosts, checkpoint))

/// It has failed.
struct AttemptEnded {
  static constexpr const char* is = "attempt_ended";
  int attempt = 0;
  std::string words;
};
BOOST_DESCRIBE_STRUCT(AttemptEnded, (), (attempt, words))

/// A checkpoint is durable.
struct CheckpointStored {
  static constexpr const char* is = "checkpoint_stored";
  std::string name;
  std::int64_t report = 0;            ///< Its index in the run.
  std::optional<std::int64_t> bytes;  ///< Unset for one that the user stores.
  std::int64_t files = 0;
  std::optional<double> seconds;  ///< From the moment when all ranks had reported it.
};
BOOST_DESCRIBE_STRUCT(CheckpointStored, (), (name, report, bytes, files, seconds))

/// It is kept no longer.
struct CheckpointGone {
  static constexpr const char* is = "checkpoint_gone";
  std::string name;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(CheckpointGone, (), (name, reason))

/// A validation has come to its end.
struct CheckpointValidated {
  static constexpr const char* is = "checkpoint_validated";
  std::string name;
  JsonObject metrics;
  std::optional<std::string> error;  ///< Why there are no metrics.
  std::optional<double> seconds;     ///< Since its function was called.
};
BOOST_DESCRIBE_STRUCT(CheckpointValidated, (), (name, metrics, error, seconds))

/// Of a rank that others wait for.
struct RankStack {
  int rank = 0;
  std::string text;  ///< What it was seen doing, with its stacks.
};
BOOST_DESCRIBE_STRUCT(RankStack, (), (rank, text))

/// The hang watch has looked at ranks.
struct StacksSeen {
  static constexpr const char* is = "stacks_seen";
  int attempt = 0;
  std::vector<RankStack> ranks;
};
BOOST_DESCRIBE_STRUCT(StacksSeen, (), (attempt, ranks))

/// What a rank's steps took since the attempt began.
struct RankSteps {
  int rank = 0;
  std::int64_t count = 0;
  double total_s = 0;
  /// Of it: in collectives and reports; unset where that cannot be measured.
  std::optional<double> waited_s = {};
  /// In reports without a checkpoint, and in those with one, up to their answers.
  double report_s = 0;
  double checkpoint_s = 0;
  bool of_reports = false;                ///< Its steps are not counted: times between reports.
  std::optional<double> forward_s = {};   ///< Of `total_s`, where it is known: see LoopProgress.
  std::optional<double> backward_s = {};  ///< The same.
};
BOOST_DESCRIBE_STRUCT(RankSteps, (),
                      (rank, count, total_s, waited_s, report_s, checkpoint_s, of_reports, forward_s, backward_s))

/// Now and then, and at an attempt's end.
struct StepsTaken {
  static constexpr const char* is = "steps_taken";
  int attempt = 0;
  std::vector<RankSteps> ranks;
};
BOOST_DESCRIBE_STRUCT(StepsTaken, (), (attempt, ranks))

/// How long all ranks together waited for data, since the run began.
struct DataWaited {
  static constexpr const char* is = "data_waited";
  double waiting_s = 0;
  double elapsed_s = 0;
};
BOOST_DESCRIBE_STRUCT(DataWaited, (), (waiting_s, elapsed_s))

struct Warned {
  static constexpr const char* is = "warned";
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Warned, (), (text))

/// This driver's part of the run has ended.
struct RunEnded {
  static constexpr const char* is = "run_ended";
  std::string state;
};
BOOST_DESCRIBE_STRUCT(RunEnded, (), (state))

using HistoryEvent = std::variant<AttemptBegan, AttemptEnded, CheckpointStored, CheckpointGone, CheckpointValidated,
                                  StacksSeen, StepsTaken, DataWaited, Warned, RunEnded>;

inline constexpr const char* history_file = "history.jsonl";

/// An event as a line, without its end. Long texts are cut.
std::string history_line(double at_unix_s, HistoryEvent event);

struct LoggedHistory {
  double at_unix_s = 0;
  HistoryEvent event;
};
/// Unset for a line that this version does not know.
std::optional<LoggedHistory> parse_history_line(std::string_view line);

}  // namespace headway::driver
