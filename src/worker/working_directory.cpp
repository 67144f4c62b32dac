#include "worker/working_directory.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace headway::worker {

Result<void> settle_in(const std::string& working_directory, bool enter) {
  std::error_code failure;
  // A run that ends removes what is empty above its own directory, and may do so just now.
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::filesystem::create_directories(working_directory, failure);
    if (failure != std::errc::no_such_file_or_directory) break;
  }
  if (failure) {
    return Error{ErrorKind::unavailable,
                 "the working directory " + working_directory + " cannot be made: " + failure.message()};
  }
  if (enter && chdir(working_directory.c_str()) != 0) {
    return Error{ErrorKind::unavailable,
                 "the working directory " + working_directory + " cannot be entered: " + std::strerror(errno)};
  }
  return {};
}

bool make_temporary_directory(const std::string& path) {
  // Its agent makes those above as well, perhaps a moment later.
  std::vector<std::string> missing{path};
  for (int above = 0; above < 3; ++above) missing.push_back(missing.back().substr(0, missing.back().rfind('/')));
  for (auto each = missing.rbegin(); each != missing.rend(); ++each) mkdir(each->c_str(), 0700);
  struct ::stat parent = {};
  if (lstat(missing[1].c_str(), &parent) != 0 || !S_ISDIR(parent.st_mode)) return false;
  if (parent.st_uid != geteuid() || (parent.st_mode & (S_IWGRP | S_IWOTH)) != 0) return false;
  return access(path.c_str(), W_OK | X_OK) == 0;
}

}  // namespace headway::worker
