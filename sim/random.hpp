#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace headway::sim {

/// All chance of one simulated run, by its seed. The same on every machine: nothing here depends on
/// a standard library's taste.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// 0 up to `bound` - 1.
  int below(int bound) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(bound)); }
  bool one_in(int n) { return below(n) == 0; }
  /// From `least` to `most`, to the microsecond.
  Duration between(Duration least, Duration most) {
    const auto span = std::chrono::duration_cast<std::chrono::microseconds>(most - least).count();
    return least + std::chrono::microseconds(engine_() % static_cast<std::uint64_t>(span + 1));
  }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace headway::sim
