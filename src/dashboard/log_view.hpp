#pragma once

#include "core/json.hpp"
#include "dashboard/target.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What ranks have printed, in pieces.
namespace headway::dashboard {

struct LogFile {
  int rank = 0;
  std::optional<int> attempt;  ///< A file has all attempts of its rank.
  std::int64_t bytes = 0;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(LogFile, (), (rank, attempt, bytes, name))

/// The logs of a run on a local file system, by rank.
std::vector<LogFile> log_files(const std::string& folder);

/// A piece of a log. Offsets are bytes of the file; the text has no secrets and no bytes that are
/// no UTF-8, so it may be longer or shorter than they say.
struct LogPiece {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t end = 0;
  std::optional<std::int64_t> found;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(LogPiece, (), (from, to, end, found, text))

/// Of the target: `before` or `after` an offset (neither: the file's end), `limit`, `find`. With
/// `find` and `after` the piece begins with the first line from there on that has the text, in any
/// case; with `before` it ends with the last such line. Errors: `invalid_argument`; `not_found`.
Result<LogPiece> log_piece(const std::string& location, const Target& target);

}  // namespace headway::dashboard
