#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>
#include <utility>

/// Where a run's workers are, and what happens when a node goes.
namespace headway::control {

AcquireNodes RunController::wanted_nodes() const {
  return {group_size(spec_), worker_claim(spec_.scaling), group_size_min(spec_)};
}

void RunController::acquire_nodes() {
  growth_.asked();
  out_.push_back(wanted_nodes());
}

/// The others are ended at once. The attempt is over when the lost ranks are gone too.
void RunController::on(const NodeLost& event) {
  lost_nodes_.insert(event.node_id);
  if (!at_work()) return;
  if (!needs(event.node_id)) return;
  if (preemption_.leaving(event.node_id)) {
    bereave();
    return;
  }
  HEADWAY_MARK(node_lost);
  fail_attempt(describe_lost_node(group_, event.node_id, event.reason, attempt_, now_));
}

/// Whether a rank is on the node that has not come to its end.
bool RunController::needs(const std::string& node_id) const {
  return std::any_of(group_.ranks().begin(), group_.ranks().end(), [&](const RankState& rank) {
    return rank.plan.slot.node_id == node_id && rank.phase != RankPhase::returned && !rank.gone;
  });
}

/// Starts the next attempt: where the last one was, if those nodes are still there, and nothing speaks for another size.
void RunController::start_again() {
  const bool larger = elastic() && growth_.hinted() && group_.size() < group_size(spec_);
  if (std::exchange(resizing_, false) || larger) {
    ask_for_nodes();
  } else {
    start_where_granted();
  }
}

/// Grants may cross the news that a node goes.
void RunController::start_where_granted() {
  const bool going = std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return lost_nodes_.contains(slot.node_id) || preemption_.leaving(slot.node_id);
  });
  if (going) {
    ask_for_nodes();
  } else {
    start_attempt();
  }
}

void RunController::ask_for_nodes() {
  HEADWAY_MARK(nodes_asked_for_again);
  state_ = RunState::scheduling;
  slots_.clear();
  acquire_nodes();
  write_journal();  // There may be none for long.
}

}  // namespace headway::control
