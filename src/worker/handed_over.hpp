#pragma once

#include <string>

namespace headway::worker {

/// Whether a directory that is handed over with a report is no more than that report's files, so
/// that it may be moved and removed. False for a committed checkpoint and what lies in one, which
/// its run counts on, and for a directory that holds the run's folder or the one that this process
/// is in.
bool may_be_handed_over(const std::string& directory, const std::string& run_directory);

/// Whether a local directory is `place`, or one above it. False where either is on remote storage.
bool contains(const std::string& directory, const std::string& place);

}  // namespace headway::worker
