#pragma once

#include <headway/result.hpp>

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// POSIX files with errors that name the path and the system's reason.
namespace headway::storage {

/// "cannot <doing> <path>: <the system's reason for `number`>". A full disk adds how much is free
/// and, when `bytes_needed` is not zero, how much was needed.
Error system_error(std::string_view doing, const std::string& path, int number, ErrorKind kind = ErrorKind::unavailable,
                   std::uint64_t bytes_needed = 0);

/// An open descriptor; closes it when it goes. Moves, does not copy. `path` is kept for messages.
class File {
 public:
  File() = default;
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  /// Bytes read at `offset`: fewer than asked only at the end of the file.
  Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) const;
  /// `bytes_needed` is what an error about a full disk says was needed.
  Result<void> write_at(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t bytes_needed) const;
  /// Data and metadata are on the disk when it returns.
  Result<void> sync() const;
  Result<struct ::stat> status() const;

 private:
  int descriptor_ = -1;
  std::string path_;
};

/// Opens with O_CLOEXEC; `flags` and `mode` as open(2) takes them.
Result<File> open_file(const std::string& path, int flags, ::mode_t mode = 0666);

/// Opens a regular file to read. Never waits at a FIFO. Errors: `missing_kind` when it is not
/// there, `invalid_argument` when it is no regular file, else `unavailable`.
Result<File> open_regular_file(const std::string& path, ErrorKind missing_kind);

/// The whole of a small file. A symbolic link as the last part of the path is refused as
/// `corrupted`.
/// Errors: `not_found` when it is not there.
Result<std::string> read_whole(const std::string& path);

/// Writes a new or emptied file whole and fsyncs it; its directory entry is the caller's to fsync.
Result<void> write_whole(const std::string& path, std::string_view content);

/// What `mode` stands for: "a directory", "a FIFO" and so on.
const char* file_kind(::mode_t mode);

}  // namespace headway::storage
