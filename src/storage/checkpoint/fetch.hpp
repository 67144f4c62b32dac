#pragma once

#include "storage/progress.hpp"

#include <headway/result.hpp>

#include <string>

namespace headway::storage {

/// Copies the files of a checkpoint, or of any directory, into a local one, which is made when
/// missing; files of the same names there are replaced. Those of a committed checkpoint are
/// compared with its manifest on the way. Not fsynced.
/// Errors: `not_found` when there is no such directory; `corrupted`, naming file, expected and
/// found, and the newest good checkpoint of the same run; `unavailable`. `on_bytes` may hear of
/// bytes twice, when they were read again.
Result<void> fetch(const std::string& location, const std::string& target_directory, const OnBytes& on_bytes = {});

}  // namespace headway::storage
