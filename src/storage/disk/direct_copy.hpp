#pragma once

#include "storage/disk/checksum.hpp"
#include "storage/disk/file.hpp"

#include <cstdint>

/// Copying large files past the page cache of the target (O_DIRECT). The copy needs no page cache:
/// finding pages for it can take longer than writing them, and they would push out the training
/// data that is cached. Its fsync has little to do.
namespace headway::storage {

/// Whether a file of `size` bytes is worth it, and the file system of `to` known to do it well.
/// Switches `to` over when so.
bool begin_direct(const File& to, std::uint64_t size);

/// As `copy_content` does, once `begin_direct` said yes: one thread reads and checksums while
/// another writes.
Result<Content> copy_content_direct(const File& from, const File& to, std::uint64_t size, const OnBytes& on_bytes = {});

}  // namespace headway::storage
