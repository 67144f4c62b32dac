#pragma once

#include <headway/result.hpp>

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headway::driver {

/// Brings what lies in a local directory to a location, again and again: files that are new or have
/// changed since. Files that vanish here stay there. run.json is left out: it is brought by itself,
/// when it is written. One thread at a time.
class FolderSync {
 public:
  FolderSync(std::string directory, std::string location)
      : directory_(std::move(directory)), location_(std::move(location)) {}

  /// A file that takes long to bring (storage has no append, so a growing log is brought whole)
  /// rests ten times as long, unless `everything` is to be there. A file that can't be brought does
  /// not keep others back, unless storage is `unavailable`. Returns the first failure; what failed
  /// is tried again next time.
  Result<void> bring(bool everything);

 private:
  struct Sent {
    std::int64_t size = -1;
    ::timespec changed{};
    std::chrono::steady_clock::time_point rests_until;
  };

  std::vector<std::string> files() const;
  Result<void> bring_one(const std::string& name, Sent& sent, bool everything) const;

  std::string directory_;
  std::string location_;
  std::map<std::string, Sent> sent_;
};

}  // namespace headway::driver
