#pragma once

#include <chrono>
#include <ctime>

namespace headway::node {

/// Time since the machine was booted, its sleep included: a machine that slept through its lease
/// has lost it.
using LeaseTime = std::chrono::nanoseconds;

inline LeaseTime lease_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace headway::node
