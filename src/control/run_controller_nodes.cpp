#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"
#include "control/survivors.hpp"

#include <algorithm>

/// Where a run's workers are, what happens when a node goes, and how an elastic group grows.
///
/// Nodes are taken away with notice or without. With notice the group trains until the node's
/// deadline, so that its ranks can save a checkpoint; then it goes elsewhere. Ranks that return
/// before that have returned: a run that is through is through.
namespace headway::control {

AcquireNodes RunController::wanted_nodes() const { return {size_.max(), worker_claim(spec_.scaling), size_.min()}; }

void RunController::acquire_nodes() {
  size_.growth().asked();
  out_.push(wanted_nodes());
}

void RunController::ask_for_nodes() {
  HEADWAY_MARK(nodes_asked_for_again);
  state_ = RunState::scheduling;
  nodes_.give_back();
  acquire_nodes();
  write_journal();  // There may be none for long.
}

/// Starts the next attempt: where the last one was, if those nodes are still there, and nothing
/// speaks for another size.
void RunController::start_again() {
  if (size_.wants_nodes(group().size())) {
    ask_for_nodes();
  } else {
    start_where_granted();
  }
}

/// Grants may cross the news that a node goes.
void RunController::start_where_granted() {
  if (nodes_.any_going()) {
    ask_for_nodes();
  } else {
    start_attempt();
  }
}

/// The others are ended at once. The attempt ends when the lost ranks are gone too.
void RunController::on(const NodeLost& event) {
  nodes_.lose(event.node_id);
  if (!at_work() || !needs_node(group(), event.node_id)) return;
  if (nodes_.preemption().leaving(event.node_id)) {
    bereave();
    return;
  }
  HEADWAY_MARK(node_lost);
  fail_attempt(describe_lost_node(group(), event.node_id, event.reason, attempt_.number(), out_.now()));
}

void RunController::on(const NodePreempted& event) {
  PreemptionWatch& preemption = nodes_.preemption();
  if (nodes_.is_lost(event.node_id) || preemption.leaving(event.node_id)) return;
  preemption.leaves(event, out_.now());
  if (!at_work() || !needs_node(group(), event.node_id)) return;
  HEADWAY_MARK(preempted);
  if (state_ == RunState::starting) {  // It has nothing to save.
    fail_attempt(preemption_failure(false));
    return;
  }
  out_.push(Notify{describe_preemption_notice(group(), event)});
  out_.set_timer({TimerPurpose::preemption}, preemption.end_of(event.node_id));
}

RunFailure RunController::preemption_failure(bool timed_out) const {
  return describe_preemption(group(), {nodes_.preemption().info(group()).value(), timed_out}, attempt_.number(),
                             out_.now());
}

/// A rank that was needed is gone with its node. Where the user gives the others a grace, they may
/// store what they have.
void RunController::bereave() {
  nodes_.preemption().bereave();
  attempt_.take_echo();  // Its cause is known.
  if (nodes_.preemption().has_grace()) return;
  HEADWAY_MARK(preempted_node_gone);
  fail_attempt(preemption_failure(any_left(group(), nodes_)));
}

/// Called after every event: nobody sits out the grace who has nothing left to do in it.
void RunController::end_bereaved_group() {
  if (!at_work() || !nodes_.preemption().bereaved() || any_at_work(attempt_, reports_, nodes_)) return;
  HEADWAY_MARK(preempted_survivors_done);
  fail_attempt(preemption_failure(false));
}

/// A node's deadline, and the grace after it, have passed.
void RunController::end_preempted_group() {
  if (!at_work()) return;
  const PreemptionWatch& preemption = nodes_.preemption();
  const std::vector<RankState>& ranks = group().ranks();
  const bool over = std::any_of(ranks.begin(), ranks.end(), [&](const RankState& rank) {
    const std::string& node = rank.plan.slot.node_id;
    return preemption.leaving(node) && preemption.end_of(node) <= out_.now() && needs_node(group(), node);
  });
  if (!over && !preemption.bereaved()) return;
  HEADWAY_MARK(preemption_deadline);
  fail_attempt(preemption_failure(true));
}

void RunController::on(const CapacityChanged&) {
  if (size_.elastic()) size_.growth().capacity_changed();
}

void RunController::on(const CapacitySeen& event) { size_.growth().seen(out_.now(), event.workers > group().size()); }

/// Called after every event, as the hang watch is. A group that is about to end for another reason
/// does not grow.
void RunController::consider_growing() {
  if (!size_.elastic() || state_ != RunState::running || attempt_.gone() || group().size() >= size_.max()) return;
  if (end_.stop_reason() || attempt_.echo() || nodes_.preemption().info(group())) return;
  const bool ending = std::any_of(group().ranks().begin(), group().ranks().end(), [](const RankState& rank) {
    return rank.gone || rank.phase == RankPhase::returned || rank.phase == RankPhase::raised;
  });
  if (ending) return;
  const GrowthWatch::Step step = size_.growth().advance(out_.now(), reports_.any_checkpoint());
  if (step.look) out_.push(LookForCapacity{wanted_nodes()});
  if (step.grow) grow();
  if (step.wake_at) out_.reset_timer({TimerPurpose::growth}, *step.wake_at);
}

/// Ends the group, so that the next attempt takes what there is.
void RunController::grow() {
  HEADWAY_MARK(grown);
  state_ = RunState::restarting;
  size_.resize();
  terminate_group("there is capacity for more workers than the " + std::to_string(group().size()) + " of this group");
}

}  // namespace headway::control
