#pragma once

#include "control/commands.hpp"
#include "control/events.hpp"
#include "core/time.hpp"
#include "driver/run_history.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::driver {

/// Hears what a run's controller hears and commands, and says what of it belongs into
/// history.jsonl. Decides nothing, and does no I/O.
class Historian {
 public:
  /// Lines with their ends; empty, as a rule.
  std::string lines(Time now, double unix_s, const control::Event& event, const control::Commands& commands);

 private:
  /// How long a rank was in its reports, in this attempt.
  struct InReports {
    std::optional<Time> since;
    double report_s = 0;
    double checkpoint_s = 0;
  };
  struct Begun {
    std::string name;
    Time at{};
    std::int64_t report = 0;
    std::optional<std::int64_t> bytes = {};
    std::int64_t files = 0;
  };

  /// A validation's process.
  struct Validating {
    std::string checkpoint;
    std::optional<Time> since = {};  ///< Its function was called.
  };

  void hear(const control::RankReported& event);
  void hear(const control::RanksExamined& event);
  void hear(const control::CheckpointCommitted& event);
  void hear(const control::ValidationStarted& event);
  void hear(const control::ValidationFinished& event);
  void hear(const control::ValidationFailed& event);
  void hear(const control::ValidationExited& event);
  template <class Event>
  void hear(const Event&) {}

  void note(const control::StartWorkers& command);
  void note(const control::BeginCheckpoint& command);
  void note(const control::UploadFiles& command);
  void note(const control::CommitCheckpoint& command);
  void note(const control::StartValidation& command);
  void note(const control::DeleteCheckpoint& command);
  void note(const control::AnswerReport& command);
  void note(const control::KeepStepTimes& command);
  void note(const control::KeepDataTimes& command);
  void note(const control::TellFailure& command);
  void note(const control::Warn& command);
  void note(const control::Finish& command);
  template <class Command>
  void note(const Command&) {}

  void end_validation(std::int64_t number, JsonObject metrics, std::optional<std::string> error);
  void begin_checkpoint(std::int64_t index, const std::string& name);
  void add(HistoryEvent event);
  InReports& of_rank(int rank);

  Time now_{};
  double unix_s_ = 0;
  std::string lines_;
  std::vector<InReports> in_reports_;    ///< By rank.
  std::map<std::int64_t, Begun> begun_;  ///< Checkpoints that are not committed, by index.
  std::map<std::int64_t, Validating> validating_;
  std::optional<Time> steps_written_;
};

}  // namespace headway::driver
