#pragma once

#include <headway/result.hpp>

#include <string>

namespace headway::driver {

/// Where this machine's runs keep what is not in storage, or not yet: `HEADWAY_STAGING_DIR` of the
/// environment, else `headway-staging-<user id>` in the temporary directory (`TMPDIR`, else /tmp).
class StagingRoot {
 public:
  /// Reads the environment: not beside a thread that changes it.
  static StagingRoot from_environment();

  const std::string& path() const { return path_; }

  /// Makes the directory. Errors: `invalid_argument`: HEADWAY_STAGING_DIR is no absolute path;
  /// `unavailable`: it cannot be made or written; `refused`: the default one is another user's, or
  /// others may write there.
  Result<void> prepare() const;

  /// Removes the default directory when it is empty: who uses it next makes it again. One that was
  /// chosen stays.
  void leave() const;

 private:
  StagingRoot(std::string path, bool is_chosen) : path_(std::move(path)), is_chosen_(is_chosen) {}

  std::string path_;
  bool is_chosen_ = false;
};

}  // namespace headway::driver
