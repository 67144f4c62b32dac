#pragma once

#include "storage/disk/checksum.hpp"
#include "storage/disk/file.hpp"

#include <string>

namespace headway::storage {

/// What a copy is for: kept safe, and so fsynced next, or read soon, and so best in memory.
enum class CopyFor { keeping, reading };

/// Copies what `from` holds into the empty file `to`, checksumming on the way. Holes stay holes. A
/// copy for keeping is written to the disk meanwhile, so that the fsync afterwards has little left
/// to do. Errors: `invalid_argument` when `from` became shorter meanwhile.
Result<Content> copy_content(const File& from, const File& to, CopyFor purpose, const OnBytes& on_bytes = {});

/// Fills `piece` with what `from` holds at `offset`. Errors: `invalid_argument` when a file of
/// `size` bytes ends before.
Result<void> read_exactly(const File& from, std::span<std::byte> piece, std::uint64_t offset, std::uint64_t size);

/// Has the system begin to write `bytes` of the file from `offset` (0: all) to the disk, without
/// waiting. A hint: no errors.
void start_writing(const File& file, std::uint64_t offset, std::uint64_t bytes);

/// Makes `target` a copy of the regular file `source`, with its permission bits. Should the name be
/// taken (another rank wrote it, or an attempt before), it is written as `part` first and renamed
/// over: a name's file is always one rank's whole file.
struct Copied {
  File file;  ///< The target, still open: to be fsynced.
  Content content;
};
Result<Copied> copy_file(const std::string& source, const std::string& target, const std::string& part, CopyFor purpose,
                         const OnBytes& on_bytes = {});

}  // namespace headway::storage
