#pragma once

#include <cstdint>

namespace headway {

/// Random numbers that are a function of a seed, the same on every machine. SplitMix64: G. L.
/// Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014,
/// doi:10.1145/2660193.2660195.
struct SplitMix {
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;

  std::uint64_t state = 0;

  std::uint64_t bits() {
    std::uint64_t mixed = state += step;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  /// From 0 to below 1, in steps of 2^-53.
  double uniform() { return to_uniform(bits()); }
  static double to_uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }
};

}  // namespace headway
