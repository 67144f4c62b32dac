#pragma once

#include "flow/unit_steps.hpp"

#include <arrow/memory_pool.h>

#include <memory>

namespace headway::flow {

/// Puts the rows of each unit into a random order, a function of seed, epoch and unit. `pool`
/// outlives it.
std::shared_ptr<const UnitStep> shuffle_of_units(arrow::MemoryPool* pool);

}  // namespace headway::flow
