#pragma once

#include "control/events.hpp"
#include "sim/faults.hpp"
#include "sim/random.hpp"
#include "sim/schedule.hpp"
#include "sim/trace.hpp"

#include <functional>

namespace headway::sim {

/// What every part of the simulated world stands on. The parts have it by reference; the world owns
/// it.
struct Stage {
  Random random;
  Faults faults;
  Schedule schedule;
  Trace trace;
  /// Hands an event to the controller, now.
  std::function<void(const control::Event&)> tell;

  explicit Stage(std::uint64_t seed) : random(seed), faults(random) {}

  /// Whether `fault` happens here and now.
  bool fault(Fault fault) {
    if (!faults.happen(fault, schedule.now())) return false;
    trace.fault(schedule.now(), to_string(fault));
    return true;
  }
  /// `usual`, or, when `fault` happens, seconds.
  Duration delay(Fault slow, Duration usual) {
    using namespace std::chrono_literals;
    return random.between(0ms, usual) + (fault(slow) ? random.between(100ms, 20s) : 0ms);
  }
};

}  // namespace headway::sim
