#pragma once

#include <headway/export.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Nodes that are about to be taken away, such as spot instances, or the driver's machine.
namespace headway {

/// What is known of the nodes of this group that are being taken away. With the driver go all of
/// them.
struct PreemptionInfo {
  /// When the first of them goes, in milliseconds since 1970; none: unknown.
  std::optional<std::int64_t> deadline_ms;
  /// By node, the ranks that are there, ascending.
  std::map<std::string, std::vector<int>> preempted_node_to_ranks;
};

/// None until a node with ranks of this group is being taken away (its `headway-agent` has received
/// SIGTERM) or the driver is (it has). Then save a checkpoint and continue. After a node's deadline
/// the group resumes elsewhere, from the newest checkpoint; with its driver the run ends, and the
/// next start resumes it. One value for all ranks: every rank must call it equally often, as
/// `barrier`. Throws `BadResult` as that does.
///
///     if (headway::preemption_info() && !saved) save_checkpoint();
HEADWAY_API std::optional<PreemptionInfo> preemption_info();

}  // namespace headway
