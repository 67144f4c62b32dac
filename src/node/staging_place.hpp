#pragma once

#include <climits>

namespace headway::node {

/// Where this machine's runs keep what is not in storage, or not yet: `HEADWAY_STAGING_DIR` of the environment, else
/// `headway-staging-<user id>` in the temporary directory (`TMPDIR`, else /tmp).
struct StagingPlace {
  char path[PATH_MAX] = "";
  bool is_chosen = false;  ///< By HEADWAY_STAGING_DIR: it stays when it is empty.
};

/// Reads the environment: not beside a thread that changes it. A path that is too long is empty.
StagingPlace staging_place();

/// Where the runs of a staging place have their ranks work: `working_dirs/<run>/<trial id>`, with a lock beside it that the run's
/// driver holds (flock, core/lock_name.hpp).
inline constexpr const char* working_directories_name = "working_dirs";

/// Removes the empty working directories whose drivers are gone, with their locks. What somebody wrote there stays.
void remove_left_working_directories(const char* staging);

/// The same, and what is empty above them: for a process that outlives its driver.
void leave_staging(const StagingPlace& place);

}  // namespace headway::node
