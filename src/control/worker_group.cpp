#include "control/worker_group.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace headway::control {

std::string seconds_text(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", to_seconds(duration));
  return text.data();
}

std::string WorkerGroup::report_name(std::int64_t index) const {
  return "report #" + std::to_string(place_of_report(index) + 1);
}

WorkerGroup WorkerGroup::place(const std::vector<Slot>& slots, Time now) {
  WorkerGroup group;
  std::map<std::string, std::pair<int, int>> nodes;  // node id → (node rank, workers so far)
  for (const Slot& slot : slots) {
    auto [node, added] = nodes.try_emplace(slot.node_id, static_cast<int>(nodes.size()), 0);
    (void)added;
    RankState state;
    state.plan.rank = group.size();
    state.plan.node_rank = node->second.first;
    state.plan.local_rank = node->second.second++;
    state.plan.slot = slot;
    state.since = now;
    ++group.in_phase_[state.phase];
    group.ranks_.push_back(std::move(state));
  }
  for (RankState& state : group.ranks_) state.plan.local_world_size = nodes.at(state.plan.slot.node_id).second;
  return group;
}

std::vector<WorkerPlan> WorkerGroup::plans() const {
  std::vector<WorkerPlan> plans;
  for (const RankState& state : ranks_) plans.push_back(state.plan);
  return plans;
}

std::vector<int> WorkerGroup::alive() const {
  std::vector<int> ranks;
  for (const RankState& rank : ranks_) {
    if (!rank.gone) ranks.push_back(rank.plan.rank);
  }
  return ranks;
}

void WorkerGroup::enter(int rank, RankPhase phase, Time now) {
  RankState& state = at(rank);
  --in_phase_[state.phase];
  ++in_phase_[phase];
  state.phase = phase;
  state.since = now;
}

std::string WorkerGroup::name_of(int rank) const {
  std::string name = "rank " + std::to_string(rank);
  const RankState& state = at(rank);
  if (state.pid != 0) name += " (pid " + std::to_string(state.pid) + " on " + state.plan.slot.hostname + ")";
  return name;
}

std::string WorkerGroup::doing(const RankState& rank, Time now) const {
  const std::string since = " for " + seconds_text(now - rank.since);
  const std::string none = reports_before_ > 0 ? "no report yet in this attempt" : "no report yet";
  const std::string reports = rank.reports == 0 ? none : "last " + report_name(rank.reports - 1);
  if (rank.open_calls > 0) return "in a call of the backend's hook";
  switch (rank.phase) {
    case RankPhase::starting: return "starting" + since;
    case RankPhase::ready: return "ready, waiting for the others to start" + since;
    case RankPhase::training: return "in the training function" + since + " (" + reports + ")";
    case RankPhase::reporting: return "waiting in " + report_name(rank.reports - 1) + since;
    case RankPhase::gathering:
      return "waiting in collective call #" + std::to_string(rank.collectives) + since + " (" + reports + ")";
    case RankPhase::returned: return "had finished its training function (" + reports + ")";
    case RankPhase::raised:
    case RankPhase::exited:
      if (rank.echo) return "had failed as a consequence: it lost its connection to another rank";
      return rank.phase == RankPhase::raised ? "had failed too" : "its process was gone";
  }
  return "unknown";
}

std::string WorkerGroup::describe_others(int except, Time now) const {
  constexpr int lines_max = 16;
  std::string text;
  int lines = 0;
  for (const RankState& state : ranks_) {
    if (state.plan.rank == except) continue;
    if (++lines > lines_max) continue;
    text += "  rank " + std::to_string(state.plan.rank) + ": " + doing(state, now) + "\n";
  }
  if (lines > lines_max) text += "  and " + std::to_string(lines - lines_max) + " more ranks\n";
  return text;
}

}  // namespace headway::control
