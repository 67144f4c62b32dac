#pragma once

#include "driver/run_history.hpp"
#include "storage/checkpoint/verified_notes.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What a run's history.jsonl tells, put in order.
namespace headway::dashboard {

struct AttemptRecord {
  int number = 0;
  double start_s = 0;           ///< In seconds since 1970, as all moments here.
  std::optional<double> end_s;  ///< Unset while it goes on.
  std::string end_words;
  int workers = 0;
  std::vector<std::string> hosts;  ///< By rank.
  std::optional<std::string> resumed_from;
};
BOOST_DESCRIBE_STRUCT(AttemptRecord, (), (number, start_s, end_s, end_words, workers, hosts, resumed_from))

/// The outcome of a validation.
struct ValidationRecord {
  std::string checkpoint;
  double at_unix_s = 0;
  JsonObject metrics;
  std::optional<std::string> error;
  std::optional<double> seconds;
};
BOOST_DESCRIBE_STRUCT(ValidationRecord, (), (checkpoint, at_unix_s, metrics, error, seconds))

struct CheckpointRecord {
  std::string name;
  std::int64_t report = 0;  ///< The report's number, from 1.
  std::optional<double> committed_unix_s;
  std::optional<std::int64_t> size_bytes;
  std::optional<std::int64_t> files;
  std::optional<double> seconds;  ///< From the report to its being durable.
  bool kept = true;
  std::optional<std::string> why_deleted;
  std::optional<storage::VerifiedNote> verified;  ///< Unset: nobody has had it read.
  std::optional<ValidationRecord> validation;     ///< The last one that came to its end.
  JsonObject metrics;
};
BOOST_DESCRIBE_STRUCT(CheckpointRecord, (),
                      (name, report, committed_unix_s, size_bytes, files, seconds, kept, why_deleted, verified,
                       validation, metrics))

struct StackRecord {
  int rank = 0;
  int attempt = 0;
  double taken_unix_s = 0;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(StackRecord, (), (rank, attempt, taken_unix_s, text))

/// The steps of all ranks up to a moment of an attempt.
struct StepSample {
  double at_unix_s = 0;
  int attempt = 0;
  std::vector<driver::RankSteps> ranks;
};

struct DataSample {
  double at_unix_s = 0;
  double waiting_s = 0;
  double elapsed_s = 0;
};

struct WarningRecord {
  double at_unix_s = 0;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(WarningRecord, (), (at_unix_s, text))

/// Why an attempt ended, without ", in attempt 2" in its first line: what lists attempts has said
/// that.
std::string without_attempt(std::string words);

class RunRecord {
 public:
  void add(const driver::LoggedHistory& logged);
  void clear() { *this = RunRecord(); }

  const std::vector<AttemptRecord>& attempts() const { return attempts_; }
  /// In order of commit.
  const std::vector<CheckpointRecord>& checkpoints() const { return checkpoints_; }
  /// In order of their ends: the newest ones.
  const std::vector<ValidationRecord>& validations() const { return validations_; }
  /// The newest ones, the oldest first.
  const std::vector<StackRecord>& stacks() const { return stacks_; }
  const std::vector<StepSample>& steps() const { return steps_; }
  const std::vector<DataSample>& data() const { return data_; }
  const std::vector<WarningRecord>& warnings() const { return warnings_; }

 private:
  void hear(double at, const driver::AttemptBegan& event);
  void hear(double at, const driver::AttemptEnded& event);
  void hear(double at, const driver::CheckpointStored& event);
  void hear(double at, const driver::CheckpointGone& event);
  void hear(double at, const driver::CheckpointValidated& event);
  void hear(double at, const driver::StacksSeen& event);
  void hear(double at, const driver::StepsTaken& event);
  void hear(double at, const driver::DataWaited& event);
  void hear(double at, const driver::Warned& event);
  void hear(double at, const driver::RunEnded& event);

  std::vector<AttemptRecord> attempts_;
  std::vector<CheckpointRecord> checkpoints_;
  std::map<std::string, std::size_t> newest_;  ///< By name: which of `checkpoints_`.
  std::vector<ValidationRecord> validations_;
  std::vector<StackRecord> stacks_;
  std::vector<StepSample> steps_;
  std::vector<DataSample> data_;
  std::vector<WarningRecord> warnings_;
};

}  // namespace headway::dashboard
