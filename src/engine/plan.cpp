#include "engine/plan.hpp"

#include <algorithm>
#include <utility>

namespace headway::engine {
namespace {

using Capacities = std::vector<Capacity>;

Capacity capacity_of(const node::ResourceLedger& ledger, const node::Share& free, const Wanted& wanted) {
  constexpr double cpus_max = 1e6;
  const Resources& total = ledger.node().total;
  const auto cpus = total.find("CPU");
  Capacity capacity;
  capacity.hard = ledger.capacity(free, wanted.workers_max, wanted.claim);
  if (cpus != total.end()) capacity.cpus = static_cast<int>(std::min(cpus->second, cpus_max));
  return capacity;
}

std::optional<Plan> assign_each(const std::vector<PlanNode>& nodes, const Capacities& capacities,
                                const Wanted& wanted) {
  std::vector<std::vector<bool>> allowed;
  for (const Labels& selector : wanted.claim.selectors) {
    std::vector<bool>& own = allowed.emplace_back();
    for (const PlanNode& node : nodes) own.push_back(matches(node.ledger->node().labels, selector));
  }
  auto node_of = assign(capacities, allowed, wanted.placement);
  if (!node_of) return std::nullopt;
  Plan plan{static_cast<int>(node_of->size()), std::vector<int>(capacities.size(), 0), std::move(*node_of)};
  for (const int node : plan.node_of) ++plan.counts[static_cast<std::size_t>(node)];
  return plan;
}

std::optional<Plan> plan_exactly(const std::vector<PlanNode>& nodes, const Capacities& capacities, const Wanted& wanted,
                                 int workers) {
  if (workers > most(capacities, wanted.placement)) return std::nullopt;
  const std::vector<Labels>& selectors = wanted.claim.selectors;
  if (selectors.size() > 1 && selectors.size() == static_cast<std::size_t>(workers)) {
    return assign_each(nodes, capacities, wanted);
  }
  auto counts = place(capacities, workers, wanted.placement);
  if (!counts) return std::nullopt;
  return Plan{workers, std::move(*counts), {}};
}

std::optional<Plan> plan_workers(const std::vector<PlanNode>& nodes, const Capacities& capacities,
                                 const Wanted& wanted) {
  // A group of any size shares CPUs when it has to; only one that may be smaller stays within them.
  Capacities within = capacities;
  if (wanted.claim.advised_cpus > 0) {
    for (Capacity& capacity : within) capacity.hard = std::min(capacity.hard, capacity.cpus);
  }
  const int workers = std::min(wanted.workers_max, most(within, wanted.placement));
  if (workers > wanted.workers_min) {
    if (auto planned = plan_exactly(nodes, within, wanted, workers)) return planned;
  }
  return plan_exactly(nodes, capacities, wanted, wanted.workers_min);
}

}  // namespace

std::optional<Plan> plan(const std::vector<PlanNode>& nodes, const Wanted& wanted) {
  const auto is_allowed = [&](const PlanNode& node) {
    return !node.closed && (wanted.node_id.empty() || node.ledger->node().node_id == wanted.node_id);
  };
  Capacities capacities;
  for (const PlanNode& node : nodes) {
    capacities.push_back(is_allowed(node) ? capacity_of(*node.ledger, *node.free, wanted) : Capacity());
  }
  if (wanted.beside.empty()) return plan_workers(nodes, capacities, wanted);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    node::Share free = *nodes[i].free;
    if (!is_allowed(nodes[i]) || !node::take(free, 1, wanted.beside)) continue;
    const Capacity before = std::exchange(capacities[i], capacity_of(*nodes[i].ledger, free, wanted));
    if (auto planned = plan_workers(nodes, capacities, wanted)) {
      planned->beside_node = static_cast<int>(i);
      return planned;
    }
    capacities[i] = before;
  }
  return std::nullopt;
}

}  // namespace headway::engine
