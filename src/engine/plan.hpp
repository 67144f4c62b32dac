#pragma once

#include "engine/engine.hpp"
#include "node/resource_ledger.hpp"

#include <optional>
#include <vector>

namespace headway::engine {

/// A node as a request sees it.
struct PlanNode {
  const node::ResourceLedger* ledger = nullptr;
  const node::Share* free = nullptr;  ///< What is free there, now or in the case that is looked at.
  bool closed = false;                ///< Nothing is given there.
};

/// Where a request's workers go.
struct Plan {
  int workers = 0;
  std::vector<int> counts;   ///< By node, how many.
  std::vector<int> node_of;  ///< By worker; empty when it does not matter which goes where.
  int beside_node = -1;      ///< Where what is held beside the workers goes; -1: nothing is.
};

/// The place for as many workers as there is capacity for, within the bounds; nullopt when the
/// minimum does not fit. What is beside the workers goes to the first node that leaves enough
/// capacity for them. The cost does not grow with the number of workers.
std::optional<Plan> plan(const std::vector<PlanNode>& nodes, const Wanted& wanted);

}  // namespace headway::engine
