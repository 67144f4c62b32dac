#include "control/survivors.hpp"

#include <algorithm>
#include <set>

namespace headway::control {

bool needs_node(const WorkerGroup& group, const std::string& node_id) {
  return std::any_of(group.ranks().begin(), group.ranks().end(), [&](const RankState& rank) {
    return rank.plan.slot.node_id == node_id && rank.phase != RankPhase::returned && !rank.gone;
  });
}

bool any_left(const WorkerGroup& group, const HeldNodes& nodes) {
  return std::any_of(group.ranks().begin(), group.ranks().end(), [&](const RankState& rank) {
    return !nodes.lost(rank) && rank.phase != RankPhase::returned && rank.phase != RankPhase::raised;
  });
}

bool any_at_work(const Attempt& attempt, const ReportPipeline& reports, const HeldNodes& nodes) {
  const WorkerGroup& group = attempt.group();
  const auto any_rank = [&](const auto& holds) {
    return std::any_of(group.ranks().begin(), group.ranks().end(), holds);
  };
  const auto among = [](const std::vector<int>& ranks, const RankState& rank) {
    return std::binary_search(ranks.begin(), ranks.end(), rank.plan.rank);
  };
  const auto in_vain = [&](const std::vector<int>& waiting) {
    return any_rank([&](const RankState& rank) { return nodes.lost(rank) && !among(waiting, rank); });
  };
  const std::vector<int> reporting = reports.open().waiting_ranks();
  const std::vector<int> gathering = attempt.collectives().waiting_ranks();
  const bool no_report = in_vain(reporting);
  const bool no_gathering = in_vain(gathering);
  const std::set<int> storing = reports.storing();
  const bool no_commit =
      std::any_of(storing.begin(), storing.end(), [&](int rank) { return nodes.lost(group.at(rank)); });
  return any_rank([&](const RankState& rank) {
    if (nodes.lost(rank)) return false;
    if (storing.contains(rank.plan.rank)) return true;
    if (rank.phase == RankPhase::returned || rank.phase == RankPhase::raised) return false;
    const bool stuck = (no_report && among(reporting, rank)) || (no_gathering && among(gathering, rank)) ||
                       (no_commit && rank.phase == RankPhase::reporting);
    return !stuck;
  });
}

}  // namespace headway::control
