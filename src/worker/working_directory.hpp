#pragma once

#include <headway/result.hpp>

#include <string>

namespace headway::worker {

/// Makes the directory that the ranks of a node share, unless it is there, and, with `enter`, changes into it. Errors: `unavailable`.
Result<void> settle_in(const std::string& working_directory, bool enter);

}  // namespace headway::worker
