#pragma once

#include "core/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace headway {

/// Many durations in little memory: how many there were, their sum and maximum exactly, quantiles
/// to 5 %. From a microsecond to an hour; shorter and longer ones count as these.
class DurationHistogram {
 public:
  void add(Duration duration);

  std::int64_t count() const { return count_; }
  Duration total() const { return total_; }
  Duration longest() const { return longest_; }
  /// The duration that the share `part` (0 to 1) of all does not exceed; 0 when there are none.
  Duration quantile(double part) const;

 private:
  static constexpr std::size_t buckets_an_octave = 8;
  static constexpr std::size_t octaves = 32;

  std::array<std::uint32_t, buckets_an_octave * octaves> counts_{};
  std::int64_t count_ = 0;
  Duration total_{};
  Duration longest_{};
};

}  // namespace headway
