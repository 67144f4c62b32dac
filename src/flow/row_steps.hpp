#pragma once

#include "data/plan.hpp"
#include "flow/unit_steps.hpp"

#include <arrow/memory_pool.h>

#include <memory>

namespace headway::flow {

/// The step that a node is, if it is about each row by itself: project, drop, filter, sample. Null
/// for others. `pool` outlives it.
arrow::Result<std::shared_ptr<const UnitStep>> row_step(const data::Node& node, arrow::MemoryPool* pool);

/// Whether a node is such a step, or a function.
bool is_step(const data::Node& node);
/// Whether it makes as many rows as it gets.
bool keeps_rows(const data::Node& node);

}  // namespace headway::flow
