#include "engine/placement.hpp"

#include <algorithm>

namespace headway::engine {
namespace {

/// The node where one more worker does least harm, among those with room; -1 when there is none.
int next_node(const std::vector<Room>& rooms, const std::vector<int>& placed, Placement placement) {
  int best = -1;
  const auto has_cpu = [&](int node) { return placed[node] < rooms[node].cpus; };
  const auto load = [&](int node) { return static_cast<double>(placed[node]) / std::max(rooms[node].cpus, 1); };
  for (int node = 0; node < static_cast<int>(rooms.size()); ++node) {
    const bool taken = placement == Placement::strict_spread && placed[node] > 0;
    if (placed[node] >= rooms[node].hard || taken) continue;
    if (best < 0) {
      best = node;
    } else if (placement == Placement::pack && has_cpu(best)) {
      continue;
    } else if (placement == Placement::pack && has_cpu(node)) {
      best = node;
    } else if (placement == Placement::pack ? load(node) < load(best) : placed[node] < placed[best]) {
      best = node;
    }
  }
  return best;
}

}  // namespace

Placement to_placement(std::string_view strategy) {
  if (strategy == "SPREAD") return Placement::spread;
  if (strategy == "STRICT_PACK") return Placement::strict_pack;
  if (strategy == "STRICT_SPREAD") return Placement::strict_spread;
  return Placement::pack;
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

}  // namespace headway::engine
