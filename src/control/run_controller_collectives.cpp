#include "control/failure_text.hpp"
#include "control/run_controller.hpp"

/// Barriers and broadcasts of all ranks.
namespace headway::control {

void RunController::on(const RankArrived& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::running) return;
  if (!collectives_.arrive(event.rank, event.index, {event.kind, event.root})) {
    fail_attempt(failure_of(FailureSource::controller, ErrorKind::internal,
                            "rank " + std::to_string(event.rank) + " came to collective #" +
                                std::to_string(event.index + 1) + " while #" +
                                std::to_string(collectives_.index() + 1) + " is open"));
    return;
  }
  if (collectives_.waiting_ranks().size() == 1) collectives_since_ = now_;
  RankState& rank = group_.at(event.rank);
  ++rank.collectives;
  if (rank.phase == RankPhase::training) group_.enter(event.rank, RankPhase::gathering, now_);
  if (const std::optional<int> different = collectives_.different_rank()) {
    fail_attempt(describe_different_calls(group_, collectives_, *different, attempt_, now_));
  } else if (collectives_.complete()) {
    release_collective();
  } else {
    check_unmatched_collective();
  }
}

void RunController::release_collective() {
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (group_.at(rank).phase == RankPhase::gathering) group_.enter(rank, RankPhase::training, now_);
  }
  const CollectiveCall& call = collectives_.call_of(0);
  ReleaseCollective release{attempt_, collectives_.index(), std::nullopt};
  if (call.kind == "broadcast") release.root = call.root;
  if (asks_for_preemption(call.kind)) release.preemption = preemption_.info(group_);
  out_.push_back(std::move(release));
  collectives_.advance();
}

/// A rank that has returned can never come to a collective in which others wait.
void RunController::check_unmatched_collective() {
  if (collectives_.empty() || state_ != RunState::running) return;
  std::vector<int> returned;
  for (const RankState& rank : group_.ranks()) {
    if (rank.phase == RankPhase::returned) returned.push_back(rank.plan.rank);
  }
  if (!returned.empty()) fail_attempt(describe_unmatched_collective(group_, collectives_, returned, attempt_, now_));
}

}  // namespace headway::control
