#pragma once

#include <headway/result.hpp>

#include <string>

namespace headway::worker {

/// Makes the directory that the ranks of a node share, unless it is there, and, with `enter`,
/// changes into it. Errors: `unavailable`.
Result<void> settle_in(const std::string& working_directory, bool enter);

/// Makes a directory for temporary files that is this user's own, with what is missing above it.
/// False when that cannot be, or somebody else may write into the one above.
bool make_temporary_directory(const std::string& path);

}  // namespace headway::worker
