#pragma once

#include "core/splitmix.hpp"

#include <boost/describe.hpp>

#include <cstdint>

namespace headway::control::tune {

/// An experiment's own random numbers, those of SplitMix: a function of its seed and of how many
/// were drawn, so that a restored experiment draws on.
struct Draws {
  std::uint64_t seed = 0;
  std::uint64_t drawn = 0;

  std::uint64_t bits() { return SplitMix{seed + (drawn++ * SplitMix::step)}.bits(); }

  /// From 0 to below 1, in steps of 2^-53.
  double uniform() { return SplitMix::to_uniform(bits()); }
};
BOOST_DESCRIBE_STRUCT(Draws, (), (seed, drawn))

}  // namespace headway::control::tune
