#pragma once

#include "data/plan_nodes.hpp"
#include "flow/functions/function_pools.hpp"

#include <arrow/status.h>

#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// Makes known to storage/ what the paths of a read are on, if that is a filesystem which exists
/// only in Python (`read.blob`): function workers list its files and read them, piece by piece, as
/// other threads ask for them. It is there as long as the pools are.
void register_python_filesystem(const std::shared_ptr<FunctionPools>& pools, const data::ReadNode& read,
                                const std::vector<std::string>& blobs);

}  // namespace headway::flow
