#include "storage/disk/copy.hpp"

#include "storage/disk/direct_copy.hpp"
#include "storage/disk/directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace headway::storage {

namespace {

/// So much is copied before the system starts to write it.
constexpr std::uint64_t writeback_bytes = std::uint64_t{8} << 20;

Result<Copied> copy_to(const File& from, const std::string& path, int creation_flags, CopyFor purpose,
                       const OnBytes& on_bytes) {
  const Result<struct ::stat> status = from.status();
  if (!status) return status.error();
  Result<File> to = open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW | creation_flags, 0600);
  if (!to) return to.error();
  Result<Content> content = copy_content(from, *to, purpose, on_bytes);
  if (content && ::fchmod(to->descriptor(), status->st_mode & 07777) != 0) {
    content = system_error("set the permissions of", path, errno);
  }
  if (!content) {
    ::unlink(path.c_str());
    return content.error();
  }
  return Copied{std::move(*to), std::move(*content)};
}

/// A part of a file that is all data or all hole.
struct Extent {
  std::uint64_t end = 0;
  bool is_data = true;
};

/// The one that `offset` lies in. A file system that knows of no holes has data alone.
Extent extent_at(const File& file, std::uint64_t offset, std::uint64_t size) {
  const off_t at = ::lseek(file.descriptor(), static_cast<off_t>(offset), SEEK_DATA);
  if (at < 0) return {size, errno != ENXIO};
  const auto data = static_cast<std::uint64_t>(at);
  if (data > offset) return {std::min(data, size), false};
  const off_t hole = ::lseek(file.descriptor(), at, SEEK_HOLE);
  return {hole < 0 ? size : std::min(static_cast<std::uint64_t>(hole), size), true};
}

/// There is less of it on the disk than its size says: it has holes, which read as zeros.
bool is_sparse(const struct ::stat& status) {
  constexpr off_t block_bytes = 512;
  return status.st_blocks * block_bytes < status.st_size;
}

}  // namespace

Result<void> read_exactly(const File& from, std::span<std::byte> piece, std::uint64_t offset, std::uint64_t size) {
  const Result<std::size_t> got = from.read_at(piece, offset);
  if (!got) return got.error();
  if (*got == piece.size()) return {};
  return Error{ErrorKind::invalid_argument, from.path() + " became shorter while it was copied: expected " +
                                                std::to_string(size) + " bytes, found " +
                                                std::to_string(offset + *got)};
}

Result<Content> copy_content(const File& from, const File& to, CopyFor purpose, const OnBytes& on_bytes) {
  const Result<struct ::stat> status = from.status();
  if (!status) return status.error();
  const auto size = static_cast<std::uint64_t>(status->st_size);
  const bool sparse = is_sparse(*status) && ::ftruncate(to.descriptor(), status->st_size) == 0;
  if (!sparse && purpose == CopyFor::keeping && begin_direct(to, size))
    return copy_content_direct(from, to, size, on_bytes);
  const Result<Buffer> buffer = Buffer::make(std::min<std::uint64_t>(step_bytes, size + 1));
  if (!buffer) return buffer.error();
  Checksum checksum;
  std::uint64_t written_until = 0;
  for (std::uint64_t offset = 0; offset < size;) {
    const Extent extent = sparse ? extent_at(from, offset, size) : Extent{size, true};
    const std::span<std::byte> piece =
        buffer->span().first(std::min<std::uint64_t>(buffer->span().size(), extent.end - offset));
    if (Result<void> got = read_exactly(from, piece, offset, size); !got) return got.error();
    checksum.add(piece);
    if (extent.is_data) {
      if (Result<void> put = to.write_at(piece, offset, size); !put) return put.error();
    }
    offset += piece.size();
    if (on_bytes) on_bytes(piece.size());
    if (purpose == CopyFor::keeping && offset - written_until >= writeback_bytes) {
      start_writing(to, written_until, offset - written_until);
      written_until = offset;
    }
  }
  return Content{size, checksum.text()};
}

void start_writing(const File& file, std::uint64_t offset, std::uint64_t bytes) {
  ::sync_file_range(file.descriptor(), static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

Result<Copied> copy_file(const std::string& source, const std::string& target, const std::string& part, CopyFor purpose,
                         const OnBytes& on_bytes) {
  const Result<File> from = open_regular_file(source, ErrorKind::invalid_argument);
  if (!from) return from.error();
  Result<Copied> copied = copy_to(*from, target, O_EXCL, purpose, on_bytes);
  if (copied || copied.error().kind != ErrorKind::already_exists) return copied;
  copied = copy_to(*from, part, O_TRUNC, purpose, on_bytes);
  if (!copied) return copied;
  Result<void> renamed = rename_path(part, target, true);
  if (renamed) return copied;
  ::unlink(part.c_str());
  return renamed.error();
}

}  // namespace headway::storage
