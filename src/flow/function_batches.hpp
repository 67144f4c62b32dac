#pragma once

#include "data/plan_nodes.hpp"

#include <cstdint>
#include <optional>

namespace headway::flow {

/// The least number of rows that is a multiple of both; none: it is above 2^20, more than a unit
/// has as a rule.
std::optional<std::int64_t> multiple_of(std::int64_t a, std::int64_t b);

/// A unit that is divided into multiples of so many rows gives each function of a node the batches
/// that it gets of the whole unit. None: no number is known, since a function before another one
/// changes the number of rows, or the number is too large.
/// @param otherwise The rows of a batch where a function wants no number.
std::optional<std::int64_t> batch_rows_of(const data::FunctionNode& node, std::int64_t otherwise = 1);

/// Whether functions return another number of rows than they get, as a rule: those of batches may.
bool changes_rows(const data::FunctionNode& node);

/// Whether the user has promised that functions return as many rows as they get.
bool keeps_rows(const data::FunctionNode& node);

}  // namespace headway::flow
