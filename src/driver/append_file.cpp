#include "driver/append_file.hpp"

#include "core/fault_point.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headway::driver {

AppendFile::~AppendFile() { reopen(); }

void AppendFile::reopen() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Error AppendFile::failed() const {
  return {ErrorKind::unavailable, "cannot write " + path_ + ": " + std::strerror(errno)};
}

Result<void> AppendFile::open() {
  if (descriptor_ >= 0) return {};
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) return failed();
  return {};
}

Result<void> AppendFile::append(std::string_view piece) {
  if (Result<void> opened = open(); !opened) return opened;
  std::size_t done = 0;
  // A test that kills this process in the middle gets a middle.
  std::size_t part = is_armed("append.half") ? piece.size() / 2 : piece.size();
  while (done < piece.size()) {
    const ssize_t written = ::write(descriptor_, piece.data() + done, std::min(part, piece.size() - done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    done += static_cast<std::size_t>(written);
    if (std::exchange(part, piece.size()) < piece.size()) fault_point("append.half");
  }
  if (done == piece.size()) return {};
  const Error error = failed();
  struct stat now{};
  if (done > 0 && ::fstat(descriptor_, &now) == 0) {
    (void)!::ftruncate(descriptor_, now.st_size - static_cast<off_t>(done));
  }
  return error;
}

Result<void> AppendFile::sync() {
  if (descriptor_ >= 0 && ::fdatasync(descriptor_) != 0) return failed();
  return {};
}

}  // namespace headway::driver
