#pragma once

#include "node/staging_place.hpp"

#include <atomic>
#include <string>

namespace headway::node {

/// The temporary directories (TMPDIR) of one agent's workers, below the staging place: what a
/// killed worker leaves there is removed with its attempt. When the agent is killed as well, its
/// guard removes them, or the next driver's start does. All but `path` may block. `prepare` comes
/// first, and `leave` last; what is removed before the one has ended stays until the other.
class ScratchDirectories {
 public:
  explicit ScratchDirectories(const StagingPlace& place);
  ~ScratchDirectories();
  ScratchDirectories(const ScratchDirectories&) = delete;
  ScratchDirectories& operator=(const ScratchDirectories&) = delete;

  /// An attempt's directory, which its workers make. Empty where it would be so long that sockets
  /// in it (as those of Python's multiprocessing) had names beyond the 107 characters that the
  /// system takes.
  std::string path(const std::string& attempt) const;

  /// Makes and locks the directory of all of them. Where that fails, nothing is removed later.
  void prepare();
  void remove(const std::string& attempt) const;
  /// Removes all.
  void leave();

 private:
  StagingPlace place_;
  std::string root_;  ///< Empty: there is no place for it.
  std::atomic<int> lock_{-1};
};

}  // namespace headway::node
