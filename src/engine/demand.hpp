#pragma once

#include "core/config.hpp"
#include "engine/placement.hpp"

#include <vector>

namespace headway::engine {

/// Nodes that something waits for. Each worker needs `each` on a node whose labels match.
struct NodeRequest {
  int workers_min = 1;  ///< Fewer are of no use.
  int workers_max = 1;  ///< More are not taken.
  Resources each;
  /// CPUs that a worker had better have, in addition to `each`; fewer are shared.
  double advised_cpus = 0;
  std::vector<Labels> selectors;  ///< One for all workers, or one for each of them; none: any node.
  Placement placement = Placement::pack;
  Resources beside;  ///< In addition to the workers', on one node.

  bool operator==(const NodeRequest&) const = default;
};

/// What waits for nodes to join, and what else more nodes would serve.
struct Demand {
  struct Part {
    NodeRequest request;
    int times = 1;  ///< So many requests like it stand one after the other.

    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;  ///< In the order in which they will be served.
  /// What would be served at once by more nodes, and does not need them: groups that may be larger,
  /// by as many workers as they lack, and requests that wait for what others hold. A provider may
  /// bring nodes for it that cost nobody anything.
  std::vector<Part> could_use = {};

  bool is_empty() const { return parts.empty(); }
  bool operator==(const Demand&) const = default;
};

}  // namespace headway::engine
