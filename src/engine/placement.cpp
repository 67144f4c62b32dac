#include "engine/placement.hpp"

#include <algorithm>

namespace headway::engine {
namespace {

/// The node where one more worker does least harm, among those with room; -1 when there is none.
int next_node(const std::vector<Room>& rooms, const std::vector<int>& placed, Placement placement) {
  int best = -1;
  const auto has_cpu = [&](int node) { return placed[node] < rooms[node].cpus; };
  const auto load = [&](int node) { return static_cast<double>(placed[node]) / std::max(rooms[node].cpus, 1); };
  const auto better = [&](int node) {
    if (placement != Placement::pack) return placed[node] < placed[best];
    return !has_cpu(best) && (has_cpu(node) || load(node) < load(best));
  };
  for (int node = 0; node < static_cast<int>(rooms.size()); ++node) {
    const bool taken = placement == Placement::strict_spread && placed[node] > 0;
    if (placed[node] >= rooms[node].hard || taken) continue;
    if (best < 0 || better(node)) best = node;
  }
  return best;
}

std::vector<Room> only(std::vector<Room> rooms, const std::vector<bool>& allowed) {
  for (std::size_t node = 0; node < rooms.size(); ++node) {
    if (!allowed[node]) rooms[node].hard = 0;
  }
  return rooms;
}

/// Workers with nodes of their own, placed one after the other.
class Assignment {
 public:
  Assignment(const std::vector<Room>& rooms, const std::vector<std::vector<bool>>& allowed, Placement placement)
      : rooms_(rooms),
        allowed_(allowed),
        placement_(placement),
        placed_(rooms.size(), 0),
        node_of_(allowed.size(), -1) {}

  /// Finds a place for one more worker; those that have one may change it. `tried` has the nodes that were asked to make way.
  bool find(std::size_t worker, std::vector<bool>& tried) {
    if (const int node = next_node(only(rooms_, allowed_[worker]), placed_, placement_); node >= 0) {
      ++placed_[static_cast<std::size_t>(node)];
      node_of_[worker] = node;
      return true;
    }
    for (std::size_t node = 0; node < rooms_.size(); ++node) {
      if (!allowed_[worker][node] || tried[node]) continue;
      tried[node] = true;
      for (std::size_t other = 0; other < node_of_.size(); ++other) {
        if (node_of_[other] != static_cast<int>(node) || !find(other, tried)) continue;
        node_of_[worker] = static_cast<int>(node);  // Its place is free now.
        return true;
      }
    }
    return false;
  }

  const std::vector<int>& nodes() const { return node_of_; }

 private:
  const std::vector<Room>& rooms_;
  const std::vector<std::vector<bool>>& allowed_;
  Placement placement_;
  std::vector<int> placed_;
  std::vector<int> node_of_;  ///< By worker; -1: none yet.
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

std::optional<std::vector<int>> place(const std::vector<Room>& rooms, int workers, Placement placement) {
  std::vector<int> placed(rooms.size(), 0);
  if (placement == Placement::strict_pack) {
    // The first one where each has a CPU, else the one that has most.
    auto best = rooms.end();
    for (auto room = rooms.begin(); room != rooms.end(); ++room) {
      if (room->hard < workers) continue;
      if (best == rooms.end() || (best->cpus < workers && room->cpus > best->cpus)) best = room;
    }
    if (best == rooms.end()) return std::nullopt;
    placed[static_cast<std::size_t>(best - rooms.begin())] = workers;
    return placed;
  }
  for (int worker = 0; worker < workers; ++worker) {
    const int node = next_node(rooms, placed, placement);
    if (node < 0) return std::nullopt;
    ++placed[static_cast<std::size_t>(node)];
  }
  return placed;
}

std::optional<std::vector<int>> assign(const std::vector<Room>& rooms, const std::vector<std::vector<bool>>& allowed,
                                       Placement placement) {
  if (placement == Placement::strict_pack) {
    std::vector<Room> shared = rooms;
    for (const std::vector<bool>& own : allowed) shared = only(std::move(shared), own);
    const auto placed = place(shared, static_cast<int>(allowed.size()), placement);
    if (!placed) return std::nullopt;
    const auto node = std::max_element(placed->begin(), placed->end()) - placed->begin();
    return std::vector<int>(allowed.size(), static_cast<int>(node));
  }
  Assignment assignment(rooms, allowed, placement);
  for (std::size_t worker = 0; worker < allowed.size(); ++worker) {
    std::vector<bool> tried(rooms.size(), false);
    if (!assignment.find(worker, tried)) return std::nullopt;
  }
  return assignment.nodes();
}

}  // namespace headway::engine
