#include "engine/placement.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace headway::engine {
namespace {

using Counts = std::vector<int>;

double load_of(int workers, const Capacity& capacity) {
  return static_cast<double>(workers) / std::max(capacity.cpus, 1);
}

/// The greatest number from 0 to `limit` that `fits`; all below it fit too, and 0 always does.
template <class Fits>
int greatest(int limit, Fits fits) {
  int low = 0;
  while (low < limit) {
    const int middle = limit - (limit - low) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      limit = middle - 1;
    }
  }
  return low;
}

/// On the first node where each has a CPU, else on the one that has most.
Counts pack_on_one(const std::vector<Capacity>& capacities, int workers) {
  auto best = capacities.end();
  for (auto capacity = capacities.begin(); capacity != capacities.end(); ++capacity) {
    if (capacity->hard < workers) continue;
    if (best == capacities.end() || (best->cpus < workers && capacity->cpus > best->cpus)) best = capacity;
  }
  Counts placed(capacities.size(), 0);
  placed[static_cast<std::size_t>(best - capacities.begin())] = workers;
  return placed;
}

/// As many on each node as on the others, as far as there is capacity; what remains goes to the
/// first ones.
Counts spread_evenly(const std::vector<Capacity>& capacities, int workers, int each_max) {
  const int level = greatest(std::min(workers, each_max), [&](int each) {
    std::int64_t sum = 0;
    for (const Capacity& capacity : capacities) sum += std::min(capacity.hard, each);
    return sum <= workers;
  });
  Counts placed;
  int left = workers;
  for (const Capacity& capacity : capacities) left -= placed.emplace_back(std::min(capacity.hard, level));
  for (std::size_t node = 0; node < capacities.size() && left > 0; ++node) {
    if (capacities[node].hard <= level || level >= each_max) continue;
    ++placed[node];
    --left;
  }
  return placed;
}

/// Nodes that have shared CPUs take one more in turn, always where there are fewest for a CPU.
void share_cpus(const std::vector<Capacity>& capacities, int workers, Counts& placed) {
  const auto at_level = [&](std::size_t node, int each_cpu) {
    const std::int64_t full = std::int64_t{each_cpu} * std::max(capacities[node].cpus, 1);
    return static_cast<int>(std::clamp<std::int64_t>(full, placed[node], capacities[node].hard));
  };
  // All whole rounds at once …
  const int level = greatest(workers, [&](int each_cpu) {
    std::int64_t sum = 0;
    for (std::size_t node = 0; node < capacities.size(); ++node) sum += at_level(node, each_cpu) - placed[node];
    return sum <= workers;
  });
  using LoadedNode = std::pair<double, std::size_t>;
  std::priority_queue<LoadedNode, std::vector<LoadedNode>, std::greater<>> open;
  for (std::size_t node = 0; node < capacities.size(); ++node) {
    workers -= at_level(node, level) - placed[node];
    placed[node] = at_level(node, level);
    if (placed[node] < capacities[node].hard) open.emplace(load_of(placed[node], capacities[node]), node);
  }
  // … and what is less than one, worker by worker.
  for (; workers > 0; --workers) {
    const std::size_t node = open.top().second;
    open.pop();
    if (++placed[node] < capacities[node].hard) open.emplace(load_of(placed[node], capacities[node]), node);
  }
}

Counts pack(const std::vector<Capacity>& capacities, int workers) {
  Counts placed;
  for (const Capacity& capacity : capacities)
    workers -= placed.emplace_back(std::min({workers, capacity.hard, capacity.cpus}));
  if (workers > 0) share_cpus(capacities, workers, placed);
  return placed;
}

/// The node where one more worker does least harm, among those `allowed` with capacity; -1 when
/// there is none.
int next_node(const std::vector<Capacity>& capacities, const std::vector<bool>& allowed, const Counts& placed,
              Placement placement) {
  int best = -1;
  const auto has_cpu = [&](int node) { return placed[node] < capacities[node].cpus; };
  const auto load = [&](int node) { return load_of(placed[node], capacities[node]); };
  const auto better = [&](int node) {
    if (placement != Placement::pack) return placed[node] < placed[best];
    return !has_cpu(best) && (has_cpu(node) || load(node) < load(best));
  };
  for (int node = 0; node < static_cast<int>(capacities.size()); ++node) {
    const bool taken = placement == Placement::strict_spread && placed[node] > 0;
    if (!allowed[node] || placed[node] >= capacities[node].hard || taken) continue;
    if (best < 0 || better(node)) best = node;
  }
  return best;
}

/// Workers with different nodes, placed one after the other. Workers that may go to the same nodes
/// are of one kind.
class Assignment {
 public:
  Assignment(const std::vector<Capacity>& capacities, const std::vector<std::vector<bool>>& allowed,
             Placement placement)
      : capacities_(capacities), placement_(placement), placed_(capacities.size(), 0), node_of_(allowed.size(), -1) {
    std::map<std::vector<bool>, std::size_t> kinds;
    for (const std::vector<bool>& own : allowed) {
      const auto [kind, added] = kinds.emplace(own, kinds.size());
      if (added) allowed_.push_back(own);
      kind_of_.push_back(kind->second);
    }
    there_.resize(capacities.size());
  }

  /// False when they do not all fit.
  bool find_all() {
    for (std::size_t worker = 0; worker < node_of_.size(); ++worker) {
      tried_nodes_.clear();
      tried_kinds_.clear();
      if (!find(worker)) return false;
    }
    return true;
  }

  const std::vector<int>& nodes() const { return node_of_; }

 private:
  /// Finds a place for one more worker; those that have one may change it, and each node is asked
  /// once to make way. Where one of a kind finds nothing, the others of it find nothing either.
  bool find(std::size_t worker) {
    const std::size_t kind = kind_of_[worker];
    if (!tried_kinds_.insert(kind).second) return false;
    if (const int node = next_node(capacities_, allowed_[kind], placed_, placement_); node >= 0) {
      ++placed_[static_cast<std::size_t>(node)];
      put(worker, static_cast<std::size_t>(node));
      return true;
    }
    for (std::size_t node = 0; node < capacities_.size(); ++node) {
      if (!allowed_[kind][node] || !tried_nodes_.insert(node).second) continue;
      for (auto& [other_kind, others] : there_[node]) {
        if (others.empty() || !find(others.back())) continue;
        others.pop_back();  // It has moved; its place is free now.
        put(worker, node);
        return true;
      }
    }
    return false;
  }

  void put(std::size_t worker, std::size_t node) {
    node_of_[worker] = static_cast<int>(node);
    there_[node][kind_of_[worker]].push_back(worker);
  }

  const std::vector<Capacity>& capacities_;
  Placement placement_;
  std::vector<std::vector<bool>> allowed_;  ///< By kind and node.
  std::vector<std::size_t> kind_of_;        ///< By worker.
  Counts placed_;
  /// By worker; -1: none yet.
  std::vector<int> node_of_;
  /// By node and kind, the workers.
  std::vector<std::map<std::size_t, std::vector<std::size_t>>> there_;
  std::set<std::size_t> tried_nodes_;
  std::set<std::size_t> tried_kinds_;
};

}  // namespace

Placement to_placement(std::string_view strategy) {
  if (strategy == "SPREAD") return Placement::spread;
  if (strategy == "STRICT_PACK") return Placement::strict_pack;
  if (strategy == "STRICT_SPREAD") return Placement::strict_spread;
  return Placement::pack;
}

std::string_view to_text(Placement placement) {
  switch (placement) {
    case Placement::spread: return "SPREAD";
    case Placement::strict_pack: return "STRICT_PACK";
    case Placement::strict_spread: return "STRICT_SPREAD";
    case Placement::pack: break;
  }
  return "PACK";
}

int most(const std::vector<Capacity>& capacities, Placement placement) {
  std::int64_t sum = 0;
  int largest = 0;
  for (const Capacity& capacity : capacities) {
    sum += placement == Placement::strict_spread ? std::min(capacity.hard, 1) : capacity.hard;
    largest = std::max(largest, capacity.hard);
  }
  if (placement == Placement::strict_pack) return largest;
  return static_cast<int>(std::min<std::int64_t>(sum, std::numeric_limits<int>::max()));
}

std::optional<std::vector<int>> place(const std::vector<Capacity>& capacities, int workers, Placement placement) {
  if (workers > most(capacities, placement)) return std::nullopt;
  switch (placement) {
    case Placement::strict_pack: return pack_on_one(capacities, workers);
    case Placement::strict_spread: return spread_evenly(capacities, workers, 1);
    case Placement::spread: return spread_evenly(capacities, workers, std::numeric_limits<int>::max());
    case Placement::pack: break;
  }
  return pack(capacities, workers);
}

std::optional<std::vector<int>> assign(const std::vector<Capacity>& capacities,
                                       const std::vector<std::vector<bool>>& allowed, Placement placement) {
  if (placement == Placement::strict_pack) {
    std::vector<Capacity> shared = capacities;
    for (const std::vector<bool>& own : allowed) {
      for (std::size_t node = 0; node < shared.size(); ++node) {
        if (!own[node]) shared[node].hard = 0;
      }
    }
    const auto placed = place(shared, static_cast<int>(allowed.size()), placement);
    if (!placed) return std::nullopt;
    const auto node = std::max_element(placed->begin(), placed->end()) - placed->begin();
    return std::vector<int>(allowed.size(), static_cast<int>(node));
  }
  Assignment assignment(capacities, allowed, placement);
  if (!assignment.find_all()) return std::nullopt;
  return assignment.nodes();
}

}  // namespace headway::engine
