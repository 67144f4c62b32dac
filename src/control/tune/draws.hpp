#pragma once

#include <boost/describe.hpp>

#include <cstdint>

namespace headway::control::tune {

/// An experiment's own random numbers: a function of its seed and of how many were drawn, so that a
/// restored experiment draws on. SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014, doi:10.1145/2660193.2660195.
struct Draws {
  std::uint64_t seed = 0;
  std::uint64_t drawn = 0;

  std::uint64_t bits() {
    std::uint64_t mixed = seed + (++drawn * 0x9e3779b97f4a7c15U);
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  /// From 0 to below 1, in steps of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }
};
BOOST_DESCRIBE_STRUCT(Draws, (), (seed, drawn))

}  // namespace headway::control::tune
