#pragma once

#include "data/plan_nodes.hpp"
#include "flow/stage.hpp"

#include <cstdint>
#include <limits>
#include <memory>

/// The same rows in other units.
namespace headway::flow {

/// In units of `rows` rows; only the last may have fewer, and those that have
/// `bytes_max` bytes before.
std::unique_ptr<Stage> cut_anew(std::unique_ptr<Stage> input, std::int64_t rows,
                                std::int64_t bytes_max = std::numeric_limits<std::int64_t>::max());

/// Rows that are sorted by a column of numbers, in a unit for each part between boundaries that has
/// rows. Null and NaN are in the last one. Errors: Invalid for another column.
std::unique_ptr<Stage> cut_at(std::unique_ptr<Stage> input, const data::Boundaries& boundaries);

}  // namespace headway::flow
