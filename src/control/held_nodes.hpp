#pragma once

#include "control/preemption_watch.hpp"
#include "control/worker_group.hpp"
#include "core/worker.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headway::control {

/// The nodes that the run has been granted, and those of them that are lost or being taken away.
class HeldNodes {
 public:
  explicit HeldNodes(double preemption_grace_s) : preemption_(preemption_grace_s) {}

  /// One slot for each rank.
  void grant(std::vector<Slot> slots) { slots_ = std::move(slots); }
  void give_back() { slots_.clear(); }
  const std::vector<Slot>& slots() const { return slots_; }
  /// Whether a granted slot is on a node where nothing can be started any more.
  bool any_going() const;

  /// The node is out of reach, for good.
  void lose(const std::string& node_id) { lost_.insert(node_id); }
  bool is_lost(const std::string& node_id) const { return lost_.contains(node_id); }
  /// The rank's process is gone, or will be with its node.
  bool lost(const RankState& rank) const { return rank.gone || is_lost(rank.plan.slot.node_id); }

  PreemptionWatch& preemption() { return preemption_; }
  const PreemptionWatch& preemption() const { return preemption_; }

 private:
  std::vector<Slot> slots_;
  std::set<std::string> lost_;
  PreemptionWatch preemption_;
};

}  // namespace headway::control
