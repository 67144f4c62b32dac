#pragma once

#include <chrono>
#include <cstdint>

/// Time as decisions see it: handed in from outside, never read. Production passes the steady clock, tests a number of their own.
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

inline Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace headway
