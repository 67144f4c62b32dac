#pragma once

#include "flow/plan_builder.hpp"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <vector>

namespace headway::flow {

/// An operation on all rows, and the columns that it gets.
struct BoundWhole {
  const data::WholeNode* whole = nullptr;
  std::vector<std::shared_ptr<arrow::Schema>> inputs;
};

/// Binds the names and types of the plan's steps to the columns that its sources show without
/// being read: of local files, as many as decide the types. No function runs, and what comes behind
/// one is not looked at. Gives the operations on all rows whose inputs are known: headway._worker's
/// whole_queries knows their options. `input` outlives them.
///
/// Errors: a column that does not exist, a type that does not fit, as `PlanBuilder::build` has
/// them. A source that cannot be opened here is none.
arrow::Result<std::vector<BoundWhole>> bind_plan(Engine& engine, const PlanInput& input);

}  // namespace headway::flow
