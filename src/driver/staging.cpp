#include "driver/staging.hpp"

#include "core/lock_name.hpp"
#include "storage/disk/checksum.hpp"
#include "storage/disk/directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <random>
#include <span>

namespace headway::driver {
namespace {

constexpr std::string_view name_start = "run-";
constexpr std::string_view results_name = "result.json";
constexpr std::time_t lines_wait_s = 7L * 24 * 3600;

Error unusable(const std::string& root, const std::string& why) {
  return {ErrorKind::unavailable, "the staging directory " + root + " cannot be used: " + why +
                                      "; set HEADWAY_STAGING_DIR to another directory on a local disk"};
}

/// How the names of a run's directories and locks begin.
std::string start_of(const std::string& location) {
  storage::Checksum checksum;
  checksum.add(std::as_bytes(std::span(location)));
  const std::string digits = checksum.text();
  return std::string(name_start) + digits.substr(digits.find(':') + 1) + "-";
}

/// Whether a driver of the run may still come for the lines that a killed one had not brought to
/// storage.
bool awaits_its_run(const std::string& results) {
  struct ::stat status{};
  return ::stat(results.c_str(), &status) == 0 && status.st_size > 0 &&
         std::time(nullptr) - status.st_mtime < lines_wait_s;
}

void remove_all_but_results(const std::string& directory) {
  const Result<std::vector<std::string>> names = storage::read_directory(directory);
  if (!names) return;
  for (const std::string& name : *names) {
    if (name != results_name) (void)storage::remove_tree(storage::join(directory, name));
  }
}

/// Removes what drivers left that are gone, but for the lines of the same run, which `mine` gets,
/// and those that another run may come for. What cannot be removed stays; it is in nobody's way.
void sweep(const std::string& root, const std::string& own_start, const std::string& mine) {
  int found = 0;
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
    const std::string results = storage::join(left, results_name);
    if (name.starts_with(own_start)) {
      const std::string kept = std::string(left_results_prefix) + std::to_string(found++);
      (void)storage::rename_path(results, storage::join(mine, kept), true);
    } else if (awaits_its_run(results)) {
      remove_all_but_results(left);
      continue;
    }
    if (storage::remove_tree(left)) lock->remove();
  }
}

}  // namespace

Result<Staging> Staging::make(const StagingRoot& place, const std::string& location) {
  const std::string& root = place.path();
  const std::string start = start_of(location);
  std::random_device random;
  for (;;) {
    if (Result<void> prepared = place.prepare(); !prepared) return prepared.error();
    const std::string path = storage::join(root, start + std::to_string(random()));
    Result<storage::LockFile> lock = storage::LockFile::open(path + std::string(lock_suffix));
    // Another driver, at its end, may have removed the directory since.
    if (!lock && ::access(root.c_str(), F_OK) != 0) continue;
    if (!lock) return unusable(root, lock.error().message);
    const Result<bool> ours = lock->try_exclusive();
    if (!ours) return unusable(root, ours.error().message);
    // Another driver's sweep may have taken the file between its making and its locking.
    if (!*ours || !lock->is_current()) continue;
    if (::mkdir(path.c_str(), 0700) == 0) {
      sweep(root, start, path);
      return Staging(place, std::move(*lock), path);
    }
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
