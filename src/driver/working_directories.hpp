#pragma once

#include <headway/result.hpp>

#include <string>

namespace headway::driver {

/// Where the ranks of this machine's runs work: below the staging directory, which is `HEADWAY_STAGING_DIR` of the environment, else
/// `headway-staging-<user id>` in the temporary directory (`TMPDIR`, else /tmp).
class WorkingDirectories {
 public:
  /// Reads the environment: not beside a thread that changes it.
  static WorkingDirectories from_environment();

  /// The directory that a run's ranks share on each node: `<staging>/working_dirs/<run>/<trial id>`.
  std::string working_directory(const std::string& run_name, const std::string& trial_id) const;

  /// Makes the staging directory. Errors: `unavailable`: it cannot be made or written, or the default one is another user's.
  Result<void> prepare() const;

  /// At the end of a run: removes the working directory when it is empty, or with all that it holds when that is `synced`, and what
  /// is empty above it, but for the staging directory. True when something stays.
  Result<bool> leave(const std::string& working_directory, bool synced) const;

 private:
  WorkingDirectories(std::string path, bool is_default) : path_(std::move(path)), is_default_(is_default) {}

  std::string path_;
  bool is_default_ = false;
};

}  // namespace headway::driver
