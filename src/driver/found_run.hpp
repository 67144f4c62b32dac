#pragma once

#include "control/journal.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::driver {

/// A run's journal, for whoever wants to read it; the folder's location is given. Errors:
/// `not_found` when it holds no run; `corrupted`; `unavailable`, `refused`.
Result<control::Journal> read_journal(const std::string& run_directory);

/// The run that a folder (a location) holds, if it holds one. `local_directory` is where its small
/// files are written: where that is elsewhere, result.json and logs/ are brought there. Cuts off a
/// line of result.json that its writer could not finish. Only for the folder's owner. Adds to
/// `warnings` what could not be read and is left alone.
/// Errors: `corrupted` when run.json is no journal that this version reads; `already_exists` when
/// there are checkpoints and no run.json; `unavailable`. A run.json that is not `durable` may have
/// been lost or damaged with the machine's power: then the checkpoints and result.json say how far
/// the run was.
Result<std::optional<control::FoundRun>> find_run(const std::string& run_directory, const std::string& local_directory,
                                                  std::vector<std::string>& warnings, bool durable = true);

/// Counts the lines of a result.json and reads the last. What follows the last whole line is cut
/// off: whoever wrote it was killed in the middle. No file: no lines.
Result<control::FoundResults> recover_results(const std::string& path, std::vector<std::string>& warnings);

}  // namespace headway::driver
