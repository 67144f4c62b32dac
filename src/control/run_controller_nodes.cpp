#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>

/// Where a run's workers are, and what happens when a node goes.
namespace headway::control {

void RunController::acquire_nodes() { out_.push_back(AcquireNodes{group_size(spec_), worker_claim(spec_.scaling)}); }

/// The others are ended at once. The attempt is over when the lost ranks are gone too.
void RunController::on(const NodeLost& event) {
  lost_nodes_.insert(event.node_id);
  if (!at_work()) return;
  const bool needed = std::any_of(group_.ranks().begin(), group_.ranks().end(), [&](const RankState& rank) {
    return rank.plan.slot.node_id == event.node_id && rank.phase != RankPhase::returned && !rank.gone;
  });
  if (!needed) return;
  HEADWAY_MARK(node_lost);
  fail_attempt(describe_lost_node(group_, event.node_id, event.reason, attempt_, now_));
}

/// Starts the next attempt: where the last one was, if those nodes are still there.
void RunController::start_again() {
  const bool lost =
      std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) { return lost_nodes_.contains(slot.node_id); });
  if (!lost) {
    start_attempt();
    return;
  }
  HEADWAY_MARK(nodes_asked_for_again);
  state_ = RunState::scheduling;
  slots_.clear();
  out_.push_back(ReleaseNodes{});
  acquire_nodes();
}

}  // namespace headway::control
