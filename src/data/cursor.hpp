#pragma once

#include "data/dealer.hpp"
#include "data/plan_identity.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The position in a data set: which row comes next, in a form that is valid in another process, on
/// other machines and with another number of ranks.
namespace headway::data {

inline constexpr int cursor_version = 1;

struct Cursor {
  int version = cursor_version;
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  int lanes = 1;
  /// The most that is shuffled at once; of the machine where the run began.
  std::int64_t window_bytes = default_window_bytes;
  std::int64_t rows_before = 0;  ///< See `Position`.
  std::uint32_t window = 0;
  std::int64_t row = 0;
  std::int64_t batches = 0;
  std::string plan_hash = {};
  std::string source_hash = {};
  PlanIdentity plan = {};  ///< For the difference in words.
};
BOOST_DESCRIBE_STRUCT(Cursor, (),
                      (version, seed, epoch, lanes, window_bytes, rows_before, window, row, batches, plan_hash,
                       source_hash, plan))

/// By the data set's name, as a checkpoint's manifest has them.
using Cursors = std::map<std::string, Cursor>;

Position position_of(const Cursor& cursor);

/// The same data set at another position of the same epoch.
Cursor moved(Cursor cursor, const Position& to);

/// The beginning of the next epoch.
Cursor next_epoch(Cursor cursor);

/// What identifies the files of a data set: rows and bytes of each unit, in source order.
std::string source_hash(std::span<const UnitSize> units);

/// A cursor from JSON. Errors: `corrupted`, naming `subject` and what is wrong; `invalid_argument`
/// when a newer version of Headway wrote it.
Result<Cursor> parse_cursor(const Json& json, std::string_view subject);

/// Whether a data set with this plan and these units can resume from the cursor. Errors:
/// `invalid_argument`, with the difference in words. `subject`: `the data set "train"`.
Result<void> check_cursor(const Cursor& cursor, const PlanIdentity& plan, std::string_view source_hash,
                          std::string_view subject);

}  // namespace headway::data
