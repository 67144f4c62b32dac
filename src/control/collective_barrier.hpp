#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// What a rank calls together with all others.
struct CollectiveCall {
  std::string kind;  ///< "barrier", "broadcast", or one that asks_for_preemption().
  int root = 0;      ///< Whose bytes a broadcast gives.
  bool operator==(const CollectiveCall&) const = default;
};

/// One collective call of all ranks: each rank's n-th call belongs together.
class CollectiveBarrier {
 public:
  explicit CollectiveBarrier(int world_size = 0) : calls_(static_cast<std::size_t>(world_size)) {}

  /// Takes a rank's call. False when it is not the rank's next one (a defect of the peer).
  bool arrive(int rank, std::int64_t index, CollectiveCall call);

  bool complete() const { return waiting_ == static_cast<int>(calls_.size()); }
  bool empty() const { return waiting_ == 0; }
  /// The ranks that have called, ascending.
  std::vector<int> waiting_ranks() const;
  /// A rank whose call is another one than that of the first rank that waits.
  std::optional<int> different_rank() const;

  std::int64_t index() const { return index_; }
  /// The call of a rank that waits.
  const CollectiveCall& call_of(int rank) const { return *calls_.at(static_cast<std::size_t>(rank)); }

  /// Opens the next index.
  void advance();

 private:
  std::vector<std::optional<CollectiveCall>> calls_;
  int waiting_ = 0;
  std::int64_t index_ = 0;
};

}  // namespace headway::control
