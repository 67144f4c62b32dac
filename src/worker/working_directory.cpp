#include "worker/working_directory.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <unistd.h>

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

}  // namespace headway::worker
