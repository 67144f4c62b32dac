#include "storage/disk/file.hpp"

#include "core/may_block.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

namespace headway::storage {

namespace {

/// The system's words for an error number, beginning in lower case as they stand within a sentence.
std::string reason(int number) {
  char buffer[256] = {};
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  std::string words = ::strerror_r(number, buffer, sizeof buffer);
#else
  std::string words = ::strerror_r(number, buffer, sizeof buffer) == 0 ? buffer : "error " + std::to_string(number);
#endif
  if (words.size() > 1 && std::islower(static_cast<unsigned char>(words[1]))) {
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  }
  return words;
}

std::string free_space_note(const std::string& path, std::uint64_t bytes_needed) {
  std::string note;
  if (bytes_needed > 0) note = std::to_string(bytes_needed) + " bytes needed";
  struct ::statvfs volume = {};
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  if (::statvfs(directory.c_str(), &volume) == 0) {
    if (!note.empty()) note += ", ";
    note += std::to_string(static_cast<std::uint64_t>(volume.f_bavail) * volume.f_frsize) + " bytes free";
  }
  return note.empty() ? note : " (" + note + ")";
}

}  // namespace

Error system_error(std::string_view doing, const std::string& path, int number, ErrorKind kind,
                   std::uint64_t bytes_needed) {
  std::string message = "cannot " + std::string(doing) + " " + path + ": " + reason(number);
  if (number == ENOSPC || number == EDQUOT) message += free_space_note(path, bytes_needed);
  return Error{kind, std::move(message)};
}

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::size_t> File::read_at(std::span<std::byte> buffer, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got =
        ::pread(descriptor_, buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return system_error("read", path_, errno);
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> File::write_at(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t bytes_needed) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put =
        ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (put < 0) {
      if (errno == EINTR) continue;
      return system_error("write", path_, errno, ErrorKind::unavailable, bytes_needed);
    }
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Result<void> File::sync() const {
  may_block("a file is brought to the disk");
  while (::fsync(descriptor_) != 0) {
    if (errno != EINTR) return system_error("fsync", path_, errno);
  }
  return {};
}

Result<struct ::stat> File::status() const {
  struct ::stat status = {};
  if (::fstat(descriptor_, &status) != 0) return system_error("stat", path_, errno);
  return status;
}

Result<File> open_file(const std::string& path, int flags, ::mode_t mode) {
  may_block("a file is opened");
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode);
    if (descriptor >= 0) return File(descriptor, path);
    if (errno == EINTR) continue;
    const ErrorKind kind = errno == ENOENT   ? ErrorKind::not_found
                           : errno == EEXIST ? ErrorKind::already_exists
                                             : ErrorKind::unavailable;
    return system_error((flags & O_CREAT) != 0 ? "create" : "open", path, errno, kind);
  }
}

Result<File> open_regular_file(const std::string& path, ErrorKind missing_kind) {
  struct ::stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    const bool loop = errno == ELOOP;
    return system_error("read", path, errno,
                        missing ? missing_kind
                        : loop  ? ErrorKind::invalid_argument
                                : ErrorKind::unavailable);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorKind::invalid_argument, path + " is not a regular file but " + file_kind(status.st_mode)};
  }
  // O_NONBLOCK: should a FIFO have taken the file's place meanwhile, opening it must not wait for a
  // writer.
  Result<File> opened = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!opened && opened.error().kind == ErrorKind::not_found) return Error{missing_kind, opened.error().message};
  return opened;
}

Result<std::string> read_whole(const std::string& path) {
  may_block("a file is read");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    if (errno == ELOOP) return Error{ErrorKind::corrupted, path + " is a symbolic link, expected a regular file"};
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return system_error("read", path, errno, missing ? ErrorKind::not_found : ErrorKind::unavailable);
  }
  const File file(descriptor, path);
  const Result<struct ::stat> status = file.status();
  if (!status) return status.error();
  if (!S_ISREG(status->st_mode)) {
    return Error{ErrorKind::corrupted, path + " is " + file_kind(status->st_mode) + ", expected a regular file"};
  }
  std::string content(static_cast<std::size_t>(status->st_size), '\0');
  const Result<std::size_t> got = file.read_at(std::as_writable_bytes(std::span(content)), 0);
  if (!got) return got.error();
  content.resize(*got);
  return content;
}

Result<void> write_whole(const std::string& path, std::string_view content) {
  const Result<File> file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
  if (!file) return file.error();
  if (Result<void> written = file->write_at(std::as_bytes(std::span(content)), 0, content.size()); !written)
    return written;
  return file->sync();
}

const char* file_kind(::mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return "a regular file";
    case S_IFDIR: return "a directory";
    case S_IFLNK: return "a symbolic link";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    case S_IFCHR: return "a character device";
    case S_IFBLK: return "a block device";
    default: return "something unknown";
  }
}

}  // namespace headway::storage
