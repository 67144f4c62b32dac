#pragma once

#include "driver/staging_root.hpp"

#include <string>

namespace headway::driver {

/// Where the ranks of this machine's runs work: below the staging root.
class WorkingDirectories {
 public:
  explicit WorkingDirectories(StagingRoot root) : root_(std::move(root)) {}

  /// Makes the staging root; its errors.
  Result<void> prepare() const { return root_.prepare(); }

  /// The directory that a run's ranks share on each node: `<staging>/working_dirs/<run>/<trial id>`.
  std::string working_directory(const std::string& run_name, const std::string& trial_id) const;

  /// At the end of a run: removes the working directory when it is empty, or with all that it holds when that is `synced`, and what
  /// is empty above it, but for the staging root. True when something stays.
  Result<bool> leave(const std::string& working_directory, bool synced) const;

 private:
  StagingRoot root_;
};

}  // namespace headway::driver
