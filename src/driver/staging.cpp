#include "driver/staging.hpp"

#include "core/lock_name.hpp"
#include "storage/directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

namespace headway::driver {
namespace {

constexpr std::string_view name_start = "run-";

Error unusable(const std::string& root, const std::string& why) {
  return {ErrorKind::unavailable, "the staging directory " + root + " cannot be used: " + why +
                                      "; set HEADWAY_STAGING_DIR to a directory of your own on a local disk"};
}

/// Removes what drivers left that are gone. What cannot be removed stays; it is in nobody's way.
void sweep(const std::string& root) {
  const Result<std::vector<std::string>> names = storage::read_directory(root);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(name_start) || !name.ends_with(lock_suffix)) continue;
    const std::string lock_path = storage::join(root, name);
    Result<storage::LockFile> lock = storage::LockFile::open(lock_path);
    if (!lock) continue;
    const Result<bool> dead = lock->try_exclusive();
    if (!dead || !*dead || !lock->is_current()) continue;
    const std::string left = lock_path.substr(0, lock_path.size() - lock_suffix.size());
    if (storage::remove_tree(left)) lock->remove();
  }
}

}  // namespace

Result<Staging> Staging::make(const StagingRoot& place) {
  const std::string& root = place.path();
  sweep(root);
  std::random_device random;
  for (;;) {
    if (Result<void> prepared = place.prepare(); !prepared) return prepared.error();
    const std::string path = storage::join(root, std::string(name_start) + std::to_string(random()));
    Result<storage::LockFile> lock = storage::LockFile::open(path + std::string(lock_suffix));
    // Another driver, at its end, may have removed the directory since.
    if (!lock && ::access(root.c_str(), F_OK) != 0) continue;
    if (!lock) return unusable(root, lock.error().message);
    const Result<bool> ours = lock->try_exclusive();
    if (!ours) return unusable(root, ours.error().message);
    // Another driver's sweep may have taken the file between its making and its locking.
    if (!*ours || !lock->is_current()) continue;
    if (::mkdir(path.c_str(), 0700) == 0) return Staging(place, std::move(*lock), path);
    if (errno != EEXIST) return unusable(root, std::strerror(errno));
  }
}

std::string Staging::keep() {
  const std::string kept = storage::join(storage::parent_of(path_), "kept-" + storage::last_part(path_));
  if (::rename(path_.c_str(), kept.c_str()) == 0) path_ = kept;
  lock_.remove();
  lock_ = storage::LockFile();
  return path_;
}

Staging::~Staging() {
  if (!lock_.is_open()) return;
  (void)storage::remove_tree(path_);
  lock_.remove();
  root_.leave();
}

}  // namespace headway::driver
