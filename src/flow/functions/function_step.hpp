#pragma once

#include "data/plan_nodes.hpp"
#include "flow/functions/function_pools.hpp"
#include "flow/unit_steps.hpp"

#include <arrow/result.h>

#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// A plan's Python functions as a step: units go to workers whole. `blobs` are the plan's, and
/// `giver` is the step's name: see `FunctionWork`; `copy`: see `FunctionSpec`.
std::shared_ptr<const UnitStep> function_step(std::shared_ptr<FunctionPools> pools, const data::FunctionNode& node,
                                              const std::vector<std::string>& blobs, std::string giver,
                                              feed::OtherNodes other_nodes, int copy);

/// The functions of a spec (without its input) as a step.
std::shared_ptr<const UnitStep> function_step(std::shared_ptr<FunctionPools> pools, FunctionSpec spec,
                                              std::string giver);

}  // namespace headway::flow
