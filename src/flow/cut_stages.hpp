#pragma once

#include "data/plan_nodes.hpp"
#include "flow/stage.hpp"

#include <cstdint>
#include <limits>
#include <memory>

/// The same rows in other units.
namespace headway::flow {

/// Where units of large rows end before they have all of their rows.
struct UnitBytes {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();  ///< The row that reaches it is in.
  std::int64_t multiple = 1;  ///< Units have a multiple of so many rows all the same.
};

/// The next multiple that is not below `rows`.
constexpr std::int64_t rounded_up(std::int64_t rows, std::int64_t multiple) {
  return (rows + multiple - 1) / multiple * multiple;
}

/// In units of `rows` rows; only the last may have fewer, and those that have enough bytes before.
/// Where units end depends on the rows alone, in whatever batches these come.
std::unique_ptr<Stage> cut_anew(std::unique_ptr<Stage> input, std::int64_t rows, const UnitBytes& bytes = {});

/// Rows that are sorted by a column of numbers, in a unit for each part between boundaries that has
/// rows. Null and NaN are in the last one. Errors: Invalid for another column.
std::unique_ptr<Stage> cut_at(std::unique_ptr<Stage> input, const data::Boundaries& boundaries);

}  // namespace headway::flow
