#pragma once

#include "flow/engine.hpp"
#include "flow/errand.hpp"
#include "flow/plan_builder.hpp"
#include "wire/frame.hpp"

#include <memory>

namespace headway::flow {

/// Runs a plan that ends in a write, and answers with `{"files": [locations], "rows": count,
/// "stats": FlowCounters, "errored": units left out, "first_failure": words}`, or with its failure.
/// Blocks until all is written, or until the errand is stopped: then nothing is left behind.
/// `gauges` count what it does.
wire::Frame write_plan(Engine& engine, const PlanInput& input, Errand& errand,
                       std::shared_ptr<FlowGauges> gauges = nullptr);

}  // namespace headway::flow
