#include "engine/plan.hpp"

#include <algorithm>
#include <utility>

namespace headway::engine {
namespace {

using Rooms = std::vector<Room>;

Room room_of(const node::ResourceLedger& ledger, const node::Share& free, const Wanted& wanted) {
  constexpr double cpus_max = 1e6;
  const Resources& total = ledger.node().total;
  const auto cpus = total.find("CPU");
  Room room;
  room.hard = ledger.room(free, wanted.workers_max, wanted.claim);
  if (cpus != total.end()) room.cpus = static_cast<int>(std::min(cpus->second, cpus_max));
  return room;
}

std::optional<Plan> assign_each(const std::vector<PlanNode>& nodes, const Rooms& rooms, const Wanted& wanted) {
  std::vector<std::vector<bool>> allowed;
  for (const Labels& selector : wanted.claim.selectors) {
    std::vector<bool>& own = allowed.emplace_back();
    for (const PlanNode& node : nodes) own.push_back(matches(node.ledger->node().labels, selector));
  }
  auto node_of = assign(rooms, allowed, wanted.placement);
  if (!node_of) return std::nullopt;
  Plan plan{static_cast<int>(node_of->size()), std::vector<int>(rooms.size(), 0), std::move(*node_of)};
  for (const int node : plan.node_of) ++plan.counts[static_cast<std::size_t>(node)];
  return plan;
}

std::optional<Plan> plan_exactly(const std::vector<PlanNode>& nodes, const Rooms& rooms, const Wanted& wanted,
                                 int workers) {
  if (workers > most(rooms, wanted.placement)) return std::nullopt;
  const std::vector<Labels>& selectors = wanted.claim.selectors;
  if (selectors.size() > 1 && selectors.size() == static_cast<std::size_t>(workers)) {
    return assign_each(nodes, rooms, wanted);
  }
  auto counts = place(rooms, workers, wanted.placement);
  if (!counts) return std::nullopt;
  return Plan{workers, std::move(*counts), {}};
}

std::optional<Plan> plan_workers(const std::vector<PlanNode>& nodes, const Rooms& rooms, const Wanted& wanted) {
  // A group of any size shares CPUs when it has to; only one that may be smaller stays within them.
  Rooms within = rooms;
  if (wanted.claim.advised_cpus > 0) {
    for (Room& room : within) room.hard = std::min(room.hard, room.cpus);
  }
  const int workers = std::min(wanted.workers_max, most(within, wanted.placement));
  if (workers > wanted.workers_min) {
    if (auto planned = plan_exactly(nodes, within, wanted, workers)) return planned;
  }
  return plan_exactly(nodes, rooms, wanted, wanted.workers_min);
}

}  // namespace

std::optional<Plan> plan(const std::vector<PlanNode>& nodes, const Wanted& wanted) {
  const auto is_allowed = [&](const PlanNode& node) {
    return !node.closed && (wanted.node_id.empty() || node.ledger->node().node_id == wanted.node_id);
  };
  Rooms rooms;
  for (const PlanNode& node : nodes) {
    rooms.push_back(is_allowed(node) ? room_of(*node.ledger, *node.free, wanted) : Room());
  }
  if (wanted.beside.empty()) return plan_workers(nodes, rooms, wanted);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    node::Share free = *nodes[i].free;
    if (!is_allowed(nodes[i]) || !node::take(free, 1, wanted.beside)) continue;
    const Room before = std::exchange(rooms[i], room_of(*nodes[i].ledger, free, wanted));
    if (auto planned = plan_workers(nodes, rooms, wanted)) {
      planned->beside_node = static_cast<int>(i);
      return planned;
    }
    rooms[i] = before;
  }
  return std::nullopt;
}

}  // namespace headway::engine
