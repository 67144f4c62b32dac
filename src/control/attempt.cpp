#include "control/attempt.hpp"

#include "control/failure_text.hpp"

#include <algorithm>

namespace headway::control {

void Attempt::begin(const std::vector<Slot>& slots, Time now) {
  ++number_;
  begun_at_ = now;
  group_ = WorkerGroup::place(slots, now);
  gone_ = false;
  hook_since_.reset();
  ending_since_.reset();
  echo_.reset();
  collectives_ = CollectiveBarrier(group_.size());
}

void Attempt::begin_training(Time now) {
  any_trained_ = true;
  for (int rank = 0; rank < group_.size(); ++rank) group_.enter(rank, RankPhase::training, now);
}

bool Attempt::nobody_trains() const {
  return std::all_of(group_.ranks().begin(), group_.ranks().end(), [](const RankState& rank) {
    return rank.phase == RankPhase::raised || rank.phase == RankPhase::returned || rank.phase == RankPhase::exited;
  });
}

std::vector<int> Attempt::returned() const {
  std::vector<int> ranks;
  for (const RankState& rank : group_.ranks()) {
    if (rank.phase == RankPhase::returned) ranks.push_back(rank.plan.rank);
  }
  return ranks;
}

std::optional<RunFailure> Attempt::arrive(const RankArrived& event, Time now) {
  if (!collectives_.arrive(event.rank, event.index, {event.kind, event.root})) {
    return failure_of(FailureSource::controller, ErrorKind::internal,
                      "rank " + std::to_string(event.rank) + " came to collective #" + std::to_string(event.index + 1) +
                          " while #" + std::to_string(collectives_.index() + 1) + " is open");
  }
  if (collectives_.waiting_ranks().size() == 1) collectives_since_ = now;
  RankState& rank = group_.at(event.rank);
  ++rank.collectives;
  if (rank.phase == RankPhase::training) group_.enter(event.rank, RankPhase::gathering, now);
  if (const std::optional<int> different = collectives_.different_rank()) {
    return describe_different_calls(group_, collectives_, *different, number_, now);
  }
  return std::nullopt;
}

ReleaseCollective Attempt::release_collective(std::optional<PreemptionInfo> preemption, Time now) {
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (group_.at(rank).phase == RankPhase::gathering) group_.enter(rank, RankPhase::training, now);
  }
  const CollectiveCall& call = collectives_.call_of(0);
  ReleaseCollective release{number_, collectives_.index(), std::nullopt};
  if (call.kind == "broadcast") release.root = call.root;
  if (asks_for_preemption(call.kind)) release.preemption = std::move(preemption);
  collectives_.advance();
  return release;
}

std::optional<RunFailure> Attempt::unmatched_collective(Time now) const {
  if (collectives_.empty() || group_.count_in(RankPhase::returned) == 0) return std::nullopt;
  return describe_unmatched_collective(group_, collectives_, returned(), number_, now);
}

}  // namespace headway::control
