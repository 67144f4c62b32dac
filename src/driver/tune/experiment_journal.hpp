#pragma once

#include "control/tune/tune_controller.hpp"
#include "driver/append_file.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// experiment.journal: every event that an experiment has heard, one a line, each behind its
/// checksum. Whoever handles them again has the experiment as it was.
namespace headway::driver {

inline constexpr const char* experiment_journal_name = "experiment.journal";

/// What an event says as the journal's line, with its checksum and its end.
std::string line_of(std::string_view text);
/// An event as such a line.
std::string journal_line(Time at, const control::tune::TuneEvent& event);

/// An experiment as its journal tells it.
struct FoundExperiment {
  control::tune::TuneController controller;
  Time at{};                      ///< Of the last event.
  std::uint64_t whole_bytes = 0;  ///< What follows was not written whole.
};

/// Reads the journal of an experiment's folder up to its last whole line: its writer may have died
/// in the middle of the next one. Errors: `not_found` when there is none; `corrupted` when lines
/// follow one that is damaged, or one is unknown here; `unavailable`.
///
/// `lean`: trials that have terminated are known as forget_ended leaves them.
Result<FoundExperiment> find_experiment(const std::string& directory, bool lean = false);

/// The journal as its one writer has it. Used from one thread at a time, but for `sync`.
class ExperimentJournal {
 public:
  /// What lies behind `whole_bytes` goes.
  static Result<ExperimentJournal> open(const std::string& directory, std::uint64_t whole_bytes);

  /// Lines that were added survive the death of this process. Errors: `unavailable`; nothing of
  /// them is there.
  Result<void> append(std::string_view lines);
  /// What was appended survives the death of the machine, too. May run on another thread than
  /// `append`, once that has been called. Errors: `unavailable`.
  Result<void> sync();

 private:
  explicit ExperimentJournal(const std::string& path) : file_(std::make_unique<AppendFile>(path)) {}

  std::unique_ptr<AppendFile> file_;
};

/// The trials of an experiment's folder, in the order of their suggestion, for whoever wants to
/// look at them. Errors: those of find_experiment.
Result<std::vector<control::tune::Trial>> read_trials(const std::string& directory);

/// The experiment of a folder, for whoever wants to look at it, as JSON: `spec`, `trials` in the
/// order of their suggestion, `search_over`. Errors: those of find_experiment.
Result<std::string> read_experiment(const std::string& directory);

}  // namespace headway::driver
