#include "control/preemption_watch.hpp"

#include <algorithm>

namespace headway::control {

void PreemptionWatch::leaves(const NodePreempted& notice, Time now) {
  nodes_.try_emplace(notice.node_id, Leaving{now + from_seconds(notice.grace_s), notice.deadline_ms});
}

void PreemptionWatch::driver_leaves(const DriverPreempted& notice, Time now) {
  if (!driver_) driver_ = Leaving{now + from_seconds(notice.notice_s), notice.deadline_ms};
}

std::optional<PreemptionInfo> PreemptionWatch::info(const WorkerGroup& group) const {
  PreemptionInfo info;
  if (driver_) info.deadline_ms = driver_->deadline_ms;
  for (const RankState& rank : group.ranks()) {
    const std::string& node_id = rank.plan.slot.node_id;
    const auto node = nodes_.find(node_id);
    if (node == nodes_.end() && !driver_) continue;
    info.preempted_node_to_ranks[node_id].push_back(rank.plan.rank);
    if (node != nodes_.end())
      info.deadline_ms = std::min(info.deadline_ms.value_or(node->second.deadline_ms), node->second.deadline_ms);
  }
  if (info.preempted_node_to_ranks.empty() && !driver_) return std::nullopt;
  return info;
}

}  // namespace headway::control
