#pragma once

#include "core/manifest.hpp"

#include <algorithm>
#include <vector>

namespace headway::storage {

/// Gives files that were found in a directory the checksum and the rank of their upload to it.
inline void keep_checksums(const std::vector<FileRecord>& uploaded, std::vector<FileRecord>& found) {
  for (FileRecord& file : found) {
    const auto same = std::ranges::find_if(
        uploaded, [&](const FileRecord& each) { return each.name == file.name && each.size == file.size; });
    if (same != uploaded.end()) file = *same;
  }
}

}  // namespace headway::storage
