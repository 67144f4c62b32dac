#pragma once

#include <headway/result.hpp>

#include <functional>
#include <string>
#include <sys/types.h>

namespace headway::storage {

/// Asked whenever a signal has interrupted a wait: true gives the wait up. Empty: waits go on.
using Interrupted = std::function<bool()>;

/// A file that processes of one machine lock (flock). The lock goes with the process that took it,
/// however that ends, and with this object; forked children neither hold nor release it. Moves,
/// does not copy. One thread at a time.
class LockFile {
 public:
  LockFile() = default;
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

  /// Opens the file, which is made when missing. Nothing is locked yet.
  static Result<LockFile> open(const std::string& path);

  /// Locks it for this object alone, without waiting; false when another one holds a lock. Then
  /// this one holds none, not even the shared one that it may have held.
  Result<bool> try_exclusive();
  /// Waits for it. Errors: `aborted` when `interrupted` says so.
  Result<void> wait_exclusive(const Interrupted& interrupted);
  /// Shares it with others that share it. To be called while nobody else tries to lock it alone.
  Result<void> share();

  /// Whether there is a file, and this process's: not in a forked child.
  bool is_open() const { return own() >= 0; }

  /// Whether the path still leads to this file: it may have been removed, and made anew, before the
  /// lock came.
  bool is_current() const;
  /// Removes the file's name. The lock stays until this object goes.
  void remove();

  const std::string& path() const { return path_; }

 private:
  LockFile(int descriptor, std::string path);
  void close();
  /// The descriptor; in a forked child, which has none, -1.
  int own() const;

  int descriptor_ = -1;
  ::pid_t owner_ = 0;
  std::string path_;
};

}  // namespace headway::storage
