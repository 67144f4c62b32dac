#pragma once

#include "sim/violation.hpp"

namespace headway::data::sim {

using ::headway::sim::require;
using ::headway::sim::Violation;

/// What must hold in every epoch, whatever is killed and resized.
namespace invariant {
inline constexpr const char* each_row_once = "the order of an epoch has each row once";
inline constexpr const char* very_next_rows = "each step trains the very next rows of the epoch";
inline constexpr const char* equal_steps = "all ranks make the same steps, with as many rows";
inline constexpr const char* end = "what is dropped is at the end, and less than it may be";
inline constexpr const char* dealing = "batches consist of rows that were read and not given back";
inline constexpr const char* budget = "memory is within the budget, but for what a rank waits for";
inline constexpr const char* liveness = "an epoch that nobody disturbs ends";
inline constexpr const char* windows_reread = "a resumed epoch reads no window that it has passed";
}  // namespace invariant

}  // namespace headway::data::sim
