#pragma once

#include <headway/result.hpp>

#include <string>

/// Files behind a URL, read through libheadway_arrow.so, which is loaded on first use.
namespace headway::storage {

/// "s3://…" and the like, as against a path.
bool is_url(const std::string& location);

/// Where the two libraries lie that reading a URL needs.
struct ArrowLocation {
  std::string library;    ///< libheadway_arrow.so.
  std::string directory;  ///< The pyarrow package, with libarrow.so in it.
};

/// Copies every file below `url` into `target_directory`, which is made when missing. Blocks; any thread.
/// Errors: `not_found` (no such directory), `invalid_argument` (a URL of no known kind), `unavailable` (network, credentials, or a
/// pyarrow of another version than the one that Headway was built with).
Result<void> download_url(const std::string& url, const std::string& target_directory, const ArrowLocation& arrow);

/// To be called once, at the end of a process, when no download is under way. Does nothing if no URL was ever read.
void finish_remote();

}  // namespace headway::storage
