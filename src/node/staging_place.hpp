#pragma once

#include <climits>

namespace headway::node {

/// Where this machine's runs keep what is not in storage, or not yet: `HEADWAY_STAGING_DIR` of the
/// environment, else `headway-staging-<user id>` in the temporary directory (`TMPDIR`, else /tmp).
struct StagingPlace {
  char path[PATH_MAX] = "";
  bool is_chosen = false;  ///< By HEADWAY_STAGING_DIR: it stays when it is empty.
};

/// Reads the environment: not beside a thread that changes it. A path that is too long is empty.
StagingPlace staging_place();

/// Where the runs of a staging place have their ranks work: `working_dirs/<run>/<trial id>`, with a
/// lock beside it that the run's driver holds (flock, core/lock_name.hpp).
inline constexpr const char* working_directories_name = "working_dirs";

/// Removes the empty working directories whose drivers are gone, with their locks. What somebody
/// wrote there stays.
void remove_left_working_directories(const char* staging);

/// Where workers have their temporary files: `tmp/<agent>/<attempt>`, with a lock beside
/// `tmp/<agent>` that the agent's process holds (node/scratch_directories.hpp).
inline constexpr const char* scratch_directories_name = "tmp";

/// Removes the temporary files of workers whose agents are gone, with their locks.
void remove_left_scratch_directories(const char* staging);

/// Removes a file, or a directory with all below it. Symbolic links are removed, never followed.
void remove_with_content(const char* path);

/// All of that, and what is empty above: for a process that outlives its driver.
void leave_staging(const StagingPlace& place);

}  // namespace headway::node
