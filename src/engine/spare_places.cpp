#include "engine/spare_places.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

namespace headway::engine {
namespace {

/// Sums of fractions are a little off.
constexpr double rounding = 1e-9;

bool is_meant(const SpareNode& node, const SpareWanted& wanted) {
  return !wanted.not_on.contains(node.node_id) && matches(node.labels, wanted.labels);
}

double left_on(const SpareNode& node, const std::map<std::string, double>& used) {
  const auto found = used.find(node.node_id);
  return found == used.end() ? node.cpus : node.cpus - found->second;
}

}  // namespace

std::map<std::string, double> SparePlaces::used() const {
  std::map<std::string, double> used;
  for (const auto& [worker, taken] : taken_) used[taken.node_id] += taken.cpus;
  return used;
}

const SpareNode* SparePlaces::find(const std::vector<SpareNode>& nodes, const SpareWanted& wanted) const {
  const SpareNode* best = nullptr;
  double most = 0;
  const std::map<std::string, double> used = this->used();
  for (const SpareNode& node : nodes) {
    const double left = left_on(node, used);
    if (!is_meant(node, wanted) || left + rounding < wanted.cpus) continue;
    const bool is_better = best == nullptr || (best->has_gpus && !node.has_gpus) ||
                           (best->has_gpus == node.has_gpus && left > most + rounding);
    if (!is_better) continue;
    best = &node;
    most = left;
  }
  return best;
}

int SparePlaces::room(const std::vector<SpareNode>& nodes, const SpareWanted& wanted) const {
  constexpr double least = 0.01;
  double sum = 0;
  const std::map<std::string, double> used = this->used();
  for (const SpareNode& node : nodes) {
    if (is_meant(node, wanted))
      sum += std::max(std::floor((left_on(node, used) + rounding) / std::max(wanted.cpus, least)), 0.0);
  }
  constexpr double most = 1e6;
  return static_cast<int>(std::min(sum, most));
}

void SparePlaces::take(std::int64_t worker, const std::string& node_id, double cpus) {
  taken_[worker] = {node_id, cpus};
}

void SparePlaces::give_back(std::int64_t worker) {
  if (taken_.erase(worker) > 0 && given_back_) given_back_();
}

std::vector<std::int64_t> SparePlaces::too_many(const std::vector<SpareNode>& nodes) const {
  std::map<std::string, double> lacking = used();
  for (const SpareNode& node : nodes) {
    if (const auto used = lacking.find(node.node_id); used != lacking.end()) used->second -= node.cpus;
  }
  std::vector<std::int64_t> workers;
  for (const auto& [worker, taken] : std::views::reverse(taken_)) {
    double& lacks = lacking.at(taken.node_id);
    if (lacks <= rounding) continue;
    lacks -= taken.cpus;
    workers.push_back(worker);
  }
  return workers;
}

std::set<std::string> SparePlaces::nodes_in_use() const {
  std::set<std::string> nodes;
  for (const auto& [worker, taken] : taken_) nodes.insert(taken.node_id);
  return nodes;
}

void SparePlaces::lack(const void* owner, std::vector<NodeRequest> requests) {
  if (requests.empty()) {
    lacking_.erase(owner);
  } else {
    lacking_[owner] = std::move(requests);
  }
}

std::vector<NodeRequest> SparePlaces::lacking() const {
  std::vector<NodeRequest> all;
  for (const auto& [owner, requests] : lacking_) all.insert(all.end(), requests.begin(), requests.end());
  return all;
}

}  // namespace headway::engine
