#pragma once

#include "sim/faults.hpp"
#include "sim/world.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headway::sim {

/// A seed whose run broke an invariant.
struct Breach {
  std::uint64_t seed = 0;
  std::string invariant;
  std::string words;
};

/// What many runs were like.
struct Tally {
  std::uint64_t seeds = 0;
  std::uint64_t faults = 0;
  std::uint64_t attempts = 0;
  std::uint64_t events = 0;
  double simulated_s = 0;
  std::array<std::uint64_t, fault_kinds> by_fault{};
  std::vector<Breach> breaches;  ///< Lowest seeds first.

  void add(const Tally& other);
};

/// One run; a breach instead of an exception.
std::optional<Breach> run_seed(std::uint64_t seed, Tally& tally);

/// Runs seeds `first` up to `first + seeds` on `threads` threads; stops soon after `breaches_max`
/// breaches.
Tally run_seeds(std::uint64_t first, std::uint64_t seeds, int threads, std::size_t breaches_max);

}  // namespace headway::sim
