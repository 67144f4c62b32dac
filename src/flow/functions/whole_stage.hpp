#pragma once

#include "data/plan_nodes.hpp"
#include "flow/demand.hpp"
#include "flow/functions/function_pools.hpp"
#include "flow/seen_rows.hpp"
#include "flow/stage.hpp"

#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// What an operation takes of the budget while it runs, in bytes.
struct WholeMemory {
  std::int64_t duckdb = 0;  ///< DuckDB's limit; what exceeds it is spilled.
  std::int64_t beside = 0;  ///< What processes have that is not for rows.
};

/// An operation on all rows of its inputs, as a stage. It begins with the first `next`. Of
/// group_map the rows come sorted by keys, in chunks of whole groups: `group_step` calls its
/// function. Spilling is reported on the error output. `demand`: of the rows' reader; may be null.
std::unique_ptr<Stage> whole_stage(std::shared_ptr<FunctionPools> pools, const data::WholeNode& node,
                                   std::vector<std::unique_ptr<Stage>> inputs, const WholeMemory& memory,
                                   const std::string& scratch, SeenAt seen, std::shared_ptr<Demand> demand);

/// What group_map's function makes of chunks of whole groups, as a spec for function_step.
FunctionSpec group_function(const data::WholeNode& node, const std::vector<std::string>& blobs);

}  // namespace headway::flow
