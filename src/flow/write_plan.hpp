#pragma once

#include "flow/engine.hpp"
#include "flow/plan_builder.hpp"
#include "wire/frame.hpp"

#include <functional>

namespace headway::flow {

/// Runs a plan that ends in a write, and answers with `{"files": [locations], "rows": count}`, or
/// with its failure. Blocks until all is written, or until `wanted` says no: then nothing is left
/// behind.
wire::Frame write_plan(Engine& engine, const PlanInput& input, const std::function<bool()>& wanted);

}  // namespace headway::flow
