#include "driver/staging_root.hpp"

#include "node/staging_place.hpp"
#include "storage/disk/directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace headway::driver {
StagingRoot StagingRoot::from_environment() {
  const node::StagingPlace place = node::staging_place();
  return {place.path, place.is_chosen};
}

Result<void> StagingRoot::prepare() const {
  const auto error = [&](ErrorKind kind, const std::string& why) {
    return Error{kind, "the staging directory " + path_ + " " + why +
                           "; set HEADWAY_STAGING_DIR to another directory on a local disk"};
  };
  if (is_chosen_ && !path_.starts_with('/')) {
    return Error{ErrorKind::invalid_argument,
                 "HEADWAY_STAGING_DIR must be an absolute path, and '" + path_ + "' was given"};
  }
  if (is_chosen_) {
    if (Result<void> made = storage::make_directories(path_); !made) {
      return error(ErrorKind::unavailable, "cannot be made: " + made.error().message);
    }
  } else if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    return error(ErrorKind::unavailable, std::string("cannot be made: ") + std::strerror(errno));
  }
  struct ::stat found{};
  if (::lstat(path_.c_str(), &found) != 0) {
    return error(ErrorKind::unavailable, std::string("cannot be used: ") + std::strerror(errno));
  }
  // Everybody may make the default one in /tmp, and what lies in it is brought to storage in this
  // user's name.
  if (!is_chosen_ && (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 022) != 0)) {
    return error(ErrorKind::refused, "is not this user's own");
  }
  if (::access(path_.c_str(), W_OK | X_OK) != 0) {
    return error(ErrorKind::unavailable, std::string("cannot be written: ") + std::strerror(errno));
  }
  return {};
}

void StagingRoot::leave() const {
  if (!is_chosen_) ::rmdir(path_.c_str());
}

}  // namespace headway::driver
