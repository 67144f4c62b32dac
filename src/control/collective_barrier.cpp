#include "control/collective_barrier.hpp"

#include <algorithm>
#include <utility>

namespace headway::control {

bool CollectiveBarrier::arrive(int rank, std::int64_t index, CollectiveCall call) {
  auto& place = calls_.at(static_cast<std::size_t>(rank));
  if (index != index_ || place) return false;
  place = std::move(call);
  ++waiting_;
  return true;
}

std::vector<int> CollectiveBarrier::waiting_ranks() const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
    if (calls_[rank]) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::optional<int> CollectiveBarrier::different_rank() const {
  const std::vector<int> ranks = waiting_ranks();
  for (const int rank : ranks) {
    if (call_of(rank) != call_of(ranks.front())) return rank;
  }
  return std::nullopt;
}

void CollectiveBarrier::advance() {
  std::fill(calls_.begin(), calls_.end(), std::nullopt);
  waiting_ = 0;
  ++index_;
}

}  // namespace headway::control
