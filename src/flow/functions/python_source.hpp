#pragma once

#include "data/plan_nodes.hpp"
#include "flow/functions/function_pools.hpp"
#include "flow/source.hpp"

#include <arrow/result.h>

#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// Units that a Python function makes. Its first unit is begun at once, since only rows show the
/// schema; they are kept for the first `read` of that unit. Errors: the function's.
arrow::Result<std::shared_ptr<const Source>> open_python_source(std::shared_ptr<FunctionPools> pools,
                                                                const data::PythonSourceNode& node,
                                                                const std::vector<std::string>& blobs);

}  // namespace headway::flow
