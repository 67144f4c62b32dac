#pragma once

#include "driver/staging_root.hpp"
#include "storage/disk/lock_file.hpp"

#include <string>
#include <string_view>

namespace headway::driver {

/// Such a file is not brought to storage.
inline constexpr std::string_view left_results_prefix = ".headway.part.results.";

/// A local directory in which a run whose storage is remote writes its small files before they are
/// brought there. It is made below the staging root; it is gone with this object. What a driver
/// that was killed leaves is removed when the next one makes its own, but for the lines of another
/// run's result.json, which wait for seven days: a lock, which ends with its process, says whose
/// still live.
class Staging {
 public:
  /// For the run at `location`: the result.json that killed drivers of the same run have left lies
  /// in the new directory, as `left_results_prefix` and a number.
  /// Errors: those of `StagingRoot::prepare`; `unavailable`, naming the directory and
  /// HEADWAY_STAGING_DIR.
  static Result<Staging> make(const StagingRoot& root, const std::string& location = "");
  Staging(Staging&&) noexcept = default;
  Staging& operator=(Staging&&) noexcept = default;
  ~Staging();

  const std::string& path() const { return path_; }

  /// Leaves the directory behind, for good, under a name that no sweep takes; returns where it is
  /// then.
  std::string keep();

 private:
  Staging(StagingRoot root, storage::LockFile lock, std::string path)
      : root_(std::move(root)), lock_(std::move(lock)), path_(std::move(path)) {}

  StagingRoot root_;
  storage::LockFile lock_;
  std::string path_;
};

}  // namespace headway::driver
