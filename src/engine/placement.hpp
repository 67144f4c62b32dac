#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace headway::engine {

/// How a run's workers are spread over nodes.
enum class Placement {
  pack,          ///< As few nodes as it takes, in the order of their joining.
  spread,        ///< One worker a node in turn, as far as there is capacity.
  strict_pack,   ///< All on one node, or not at all.
  strict_spread  ///< No two on one node, or not at all.
};

/// "SPREAD", "STRICT_PACK" or "STRICT_SPREAD"; all else is "PACK".
Placement to_placement(std::string_view strategy);
/// The same the other way round.
std::string_view to_text(Placement placement);

/// Where workers could go on one node.
struct Capacity {
  int hard = 0;  ///< So many at most, by the resources that they claim.
  int cpus = 0;  ///< So many have a separate CPU; beyond that they share.
};

/// The largest number of workers that `place` finds capacity for.
int most(const std::vector<Capacity>& capacities, Placement placement);

/// How many of `workers` go to each node; nullopt when they do not all fit. Nodes' CPUs are shared
/// only when all are taken, and then evenly. The cost grows with the nodes and their CPUs, not with
/// `workers`.
std::optional<std::vector<int>> place(const std::vector<Capacity>& capacities, int workers, Placement placement);

/// The node of each worker, where each has different nodes: `allowed[worker][node]`. nullopt when
/// they do not all fit. Workers are spread as `place` does it, one after the other, and make way
/// for one that can go nowhere else.
std::optional<std::vector<int>> assign(const std::vector<Capacity>& capacities,
                                       const std::vector<std::vector<bool>>& allowed, Placement placement);

}  // namespace headway::engine
