#pragma once

#include "driver/staging_root.hpp"
#include "storage/disk/lock_file.hpp"

#include <string>

namespace headway::driver {

/// The working directory that a lock belongs to.
std::string directory_of(const std::string& lock_path);

/// Where the ranks of this machine's runs work: below the staging root. Beside each run's directory
/// lies a file that its driver has locked, so that what a driver that was killed left empty is told
/// from what is in use. Two drivers of one run share the directory and its lock: the second has
/// taken the run over, and the first has not noticed yet.
class WorkingDirectories {
 public:
  explicit WorkingDirectories(StagingRoot root) : root_(std::move(root)) {}

  /// Makes the staging root and removes the empty directories of drivers that are gone. Errors:
  /// those of the root.
  Result<void> prepare() const;

  /// The directory that a run's ranks share on each node: `<staging>/working_dirs/<run>/<trial
  /// id>`.
  std::string working_directory(const std::string& run_name, const std::string& trial_id) const;

  /// Says that the directory is in use, before ranks make it, until the lock goes. Where files
  /// can't be locked, an empty lock: it is never swept then.
  storage::LockFile claim(const std::string& working_directory) const;

  /// At the end of a run: removes the working directory when it is empty, or with all that it holds
  /// when that is `synced`, and what is empty above it, but for a staging root that was chosen.
  /// True when something stays. Nothing is removed while another driver has `claimed` it too: that
  /// one removes it.
  Result<bool> leave(const std::string& working_directory, bool synced, storage::LockFile& claimed) const;

 private:
  StagingRoot root_;
};

}  // namespace headway::driver
