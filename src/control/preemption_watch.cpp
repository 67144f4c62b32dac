#include "control/preemption_watch.hpp"

#include <algorithm>

namespace headway::control {

void PreemptionWatch::leaves(const NodePreempted& notice, Time now) {
  nodes_.try_emplace(notice.node_id, Leaving{now + from_seconds(notice.grace_s), notice.deadline_ms});
}

std::optional<PreemptionInfo> PreemptionWatch::info(const WorkerGroup& group) const {
  PreemptionInfo info;
  for (const RankState& rank : group.ranks()) {
    const auto node = nodes_.find(rank.plan.slot.node_id);
    if (node == nodes_.end()) continue;
    info.preempted_node_to_ranks[node->first].push_back(rank.plan.rank);
    info.deadline_ms = std::min(info.deadline_ms.value_or(node->second.deadline_ms), node->second.deadline_ms);
  }
  if (info.preempted_node_to_ranks.empty()) return std::nullopt;
  return info;
}

}  // namespace headway::control
