#pragma once

#include "node/process_identity.hpp"
#include "storage/disk/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::driver {

/// Who has a run's folder, as its file says. For messages, and for what a dead owner may have left
/// alive.
struct Owner {
  std::string host;
  node::ProcessIdentity driver;
  std::vector<node::ProcessIdentity> guards;  ///< Each outlives the workers below it.
  double since_unix_s = 0;
};
BOOST_DESCRIBE_STRUCT(Owner, (), (host, driver, guards, since_unix_s))

/// This process as an owner.
Owner this_owner(const std::vector<pid_t>& guards);

/// "pid 4711 on host-a since 2026-01-31 12:00:00".
std::string to_text(const Owner& owner);

/// The right to be the only driver of a run: an flock on a file in its folder. The system gives it
/// up when the process ends, however it ends. File systems shared by machines keep it between them
/// where they keep flock (NFS from version 4 on does).
class RunLock {
 public:
  RunLock(RunLock&&) = default;
  RunLock& operator=(RunLock&&) = delete;
  ~RunLock();

  /// Takes the folder, which must be there. When its last owner has died, the end of the processes
  /// that it left is waited for: its guards kill them. Blocks 10 s at most.
  /// Errors: `already_exists`, at once, naming the owner when somebody has it; `unavailable`.
  static Result<RunLock> take(const std::string& run_directory, Owner owner);

  /// Whether the folder is still where it was, with this lock's file in it.
  bool in_place() const;

  /// Why the file system could not lock, where it can't: nothing keeps a second driver away then.
  const std::optional<std::string>& unlocked_reason() const { return unlocked_reason_; }

 private:
  explicit RunLock(storage::File file) : file_(std::move(file)) {}

  storage::File file_;
  std::optional<std::string> unlocked_reason_;
};

}  // namespace headway::driver
