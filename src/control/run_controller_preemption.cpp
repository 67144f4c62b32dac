#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>
#include <set>

/// Nodes that are taken away with notice. Until its deadline the group goes on, so that its ranks can save a checkpoint; then it goes
/// elsewhere. Ranks that return before that have returned: a run that is through is through.
namespace headway::control {

void RunController::on(const NodePreempted& event) {
  if (lost_nodes_.contains(event.node_id) || preemption_.leaving(event.node_id)) return;
  preemption_.leaves(event, now_);
  if (!at_work() || !needs(event.node_id)) return;
  HEADWAY_MARK(preempted);
  if (state_ == RunState::starting) {  // It has nothing to save.
    fail_attempt(preemption_failure(false));
    return;
  }
  out_.push_back(Notify{describe_preemption_notice(group_, event)});
  set_timer(TimerPurpose::preemption, preemption_.end_of(event.node_id) - now_);
}

/// Its process is gone, or with its node will be.
bool RunController::lost(const RankState& rank) const {
  return rank.gone || lost_nodes_.contains(rank.plan.slot.node_id);
}

/// Whether a rank is left whose training function has not ended.
bool RunController::any_left() const {
  return std::any_of(group_.ranks().begin(), group_.ranks().end(), [this](const RankState& rank) {
    return !lost(rank) && rank.phase != RankPhase::returned && rank.phase != RankPhase::raised;
  });
}

/// Whether a rank is left that has something to do: that trains or stores. One that waits for what a lost rank will never do has not.
bool RunController::any_at_work() const {
  const auto any_rank = [this](const auto& holds) {
    return std::any_of(group_.ranks().begin(), group_.ranks().end(), holds);
  };
  const auto among = [](const std::vector<int>& ranks, const RankState& rank) {
    return std::binary_search(ranks.begin(), ranks.end(), rank.plan.rank);
  };
  const auto in_vain = [&](const std::vector<int>& waiting) {
    return any_rank([&](const RankState& rank) { return lost(rank) && !among(waiting, rank); });
  };
  const std::vector<int> reporting = barrier_.waiting_ranks();
  const std::vector<int> gathering = collectives_.waiting_ranks();
  const bool no_report = in_vain(reporting);
  const bool no_gathering = in_vain(gathering);
  std::set<int> storing;
  for (const PendingReport& report : pending_) {
    if (report.checkpoint) storing.insert(report.checkpoint->uploading.begin(), report.checkpoint->uploading.end());
  }
  const bool no_commit = std::any_of(storing.begin(), storing.end(), [&](int rank) { return lost(group_.at(rank)); });
  return any_rank([&](const RankState& rank) {
    if (lost(rank)) return false;
    if (storing.contains(rank.plan.rank)) return true;
    if (rank.phase == RankPhase::returned || rank.phase == RankPhase::raised) return false;
    const bool stuck = (no_report && among(reporting, rank)) || (no_gathering && among(gathering, rank)) ||
                       (no_commit && rank.phase == RankPhase::reporting);
    return !stuck;
  });
}

RunFailure RunController::preemption_failure(bool timed_out) const {
  return describe_preemption(group_, {preemption_.info(group_).value(), timed_out}, attempt_, now_);
}

/// A rank that was needed is gone with its node. Where the user gives the others a grace, they may store what they have.
void RunController::bereave() {
  preemption_.bereave();
  echo_.reset();  // Its cause is known.
  if (preemption_.has_grace()) return;
  HEADWAY_MARK(preempted_node_gone);
  fail_attempt(preemption_failure(any_left()));
}

/// Called after every event: nobody sits out the grace who has nothing left to do in it.
void RunController::end_bereaved_group() {
  if (!at_work() || !preemption_.bereaved() || any_at_work()) return;
  HEADWAY_MARK(preempted_survivors_done);
  fail_attempt(preemption_failure(false));
}

/// A node's deadline, and the grace, are over.
void RunController::end_preempted_group() {
  if (!at_work()) return;
  const bool over = std::any_of(group_.ranks().begin(), group_.ranks().end(), [&](const RankState& rank) {
    const std::string& node = rank.plan.slot.node_id;
    return preemption_.leaving(node) && preemption_.end_of(node) <= now_ && needs(node);
  });
  if (!over && !preemption_.bereaved()) return;
  HEADWAY_MARK(preemption_deadline);
  fail_attempt(preemption_failure(true));
}

}  // namespace headway::control
