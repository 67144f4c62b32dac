#include "driver/working_directories.hpp"

#include "storage/directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::driver {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string absolute(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path whole = std::filesystem::absolute(path, failure);
  return failure ? path : whole.lexically_normal().string();
}

}  // namespace

WorkingDirectories WorkingDirectories::from_environment() {
  if (const std::string asked = environment("HEADWAY_STAGING_DIR"); !asked.empty()) return {absolute(asked), false};
  const std::string temporary = environment("TMPDIR");
  return {
      absolute(storage::join(temporary.empty() ? "/tmp" : temporary, "headway-staging-" + std::to_string(geteuid()))),
      true};
}

std::string WorkingDirectories::working_directory(const std::string& run_name, const std::string& trial_id) const {
  return path_ + "/working_dirs/" + run_name + "/" + trial_id;
}

Result<void> WorkingDirectories::prepare() const {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorKind::unavailable, "the directory for the ranks' working directories, " + path_ +
                                             ", can't be used: " + why + "; HEADWAY_STAGING_DIR names another one"};
  };
  if (!is_default_) {
    if (Result<void> made = storage::make_directories(path_); !made) return refuse(made.error().message);
  } else if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    return refuse(std::strerror(errno));
  }
  struct stat status{};
  if (lstat(path_.c_str(), &status) != 0) return refuse(std::strerror(errno));
  // Everybody may make it in /tmp: what another user has made is no place for this one's files.
  if (is_default_ && (!S_ISDIR(status.st_mode) || status.st_uid != geteuid())) return refuse("it is another user's");
  if (access(path_.c_str(), W_OK | X_OK) != 0) return refuse(std::strerror(errno));
  return {};
}

Result<bool> WorkingDirectories::leave(const std::string& working_directory, bool synced) const {
  if (synced) {
    if (Result<void> removed = storage::remove_tree(working_directory); !removed) return removed.error();
  } else if (rmdir(working_directory.c_str()) != 0 && errno != ENOENT) {
    return true;
  }
  const std::string all_of_run = storage::parent_of(working_directory);
  rmdir(all_of_run.c_str());
  rmdir(storage::parent_of(all_of_run).c_str());
  return false;
}

}  // namespace headway::driver
