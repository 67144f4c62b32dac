#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

/// Time as decisions see it: handed in from outside, never read. Production passes the steady
/// clock, tests a number that they choose.
namespace headway {

using Duration = std::chrono::nanoseconds;

/// The tag of `Time`; it has no `now()`, so nothing in core/ or control/ can look at a clock.
struct DecisionClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
};
using Time = std::chrono::time_point<DecisionClock, Duration>;

inline double to_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// More counts as this. The sum of two such durations, and of one and a time, still fits.
inline constexpr Duration duration_max = std::chrono::hours(24 * 365 * 50);

/// Seconds from a user, a file or a peer: at most `duration_max` in both directions; what is no
/// number is 0.
inline Duration from_seconds(double seconds) {
  if (std::isnan(seconds)) return {};
  const double most = to_seconds(duration_max);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::clamp(seconds, -most, most)));
}

}  // namespace headway
