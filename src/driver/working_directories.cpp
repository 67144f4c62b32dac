#include "driver/working_directories.hpp"

#include "core/lock_name.hpp"
#include "node/staging_place.hpp"
#include "storage/disk/directory.hpp"

#include <cerrno>
#include <unistd.h>

namespace headway::driver {
namespace {

std::string lock_path(const std::string& working_directory) { return working_directory + std::string(lock_suffix); }

}  // namespace

std::string directory_of(const std::string& lock_path) {
  return lock_path.substr(0, lock_path.size() - lock_suffix.size());
}

Result<void> WorkingDirectories::prepare() const {
  if (Result<void> prepared = root_.prepare(); !prepared) return prepared;
  node::remove_left_working_directories(root_.path().c_str());
  node::remove_left_scratch_directories(root_.path().c_str());
  return {};
}

storage::LockFile WorkingDirectories::claim(const std::string& working_directory) const {
  // Another driver's sweep, or its end, may remove the directory above, or the file before it is
  // locked.
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (!root_.prepare()) break;
    const std::string of_run = storage::parent_of(working_directory);
    if (!storage::make_directory(storage::parent_of(of_run)) || !storage::make_directory(of_run)) break;
    Result<storage::LockFile> lock = storage::LockFile::open(lock_path(working_directory));
    if (!lock) continue;
    if (lock->share() && lock->is_current()) return std::move(*lock);
  }
  return {};
}

std::string WorkingDirectories::working_directory(const std::string& run_name, const std::string& trial_id) const {
  return root_.path() + "/" + node::working_directories_name + "/" + run_name + "/" + trial_id;
}

Result<bool> WorkingDirectories::leave(const std::string& working_directory, bool synced,
                                       storage::LockFile& claimed) const {
  if (claimed.is_open()) {
    const Result<bool> alone = claimed.try_exclusive();
    if (alone && !*alone) return false;
  }
  unlink(lock_path(working_directory).c_str());
  if (synced) {
    if (Result<void> removed = storage::remove_tree(working_directory); !removed) return removed.error();
  } else if (rmdir(working_directory.c_str()) != 0 && errno != ENOENT) {
    return true;
  }
  const std::string all_of_run = storage::parent_of(working_directory);
  rmdir(all_of_run.c_str());
  rmdir(storage::parent_of(all_of_run).c_str());
  root_.leave();
  return false;
}

}  // namespace headway::driver
