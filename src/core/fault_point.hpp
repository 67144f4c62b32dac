#pragma once

#include <atomic>

/// Named places in production code at which a test can end the process, as a loss of power would.
/// Off by default: a place that is not armed costs one relaxed load and a branch.
///
/// The environment variable HEADWAY_FAULT_POINT="name", "name:count", "name:count:stop" or
/// "name:count:throw", read once when the program starts, arms one point for a whole process. The
/// name "*" stands for every point.
namespace headway {

namespace detail {
extern std::atomic<bool> fault_points_armed;
void reach_fault_point(const char* name);
void reach_throw_point(const char* name);
}  // namespace detail

/// What happens at the point: the process ends with SIGKILL, or stops with SIGSTOP, so that a test
/// can end another process at this very step and then let this one go on. At a throw point an
/// exception is thrown, as a defect would.
enum class FaultDeed { kill, stop, raise };

/// Does the deed when this point is armed and its count has come.
inline void fault_point(const char* name) {
  if (detail::fault_points_armed.load(std::memory_order_relaxed)) [[unlikely]] {
    detail::reach_fault_point(name);
  }
}

/// The same for a place where an exception may come from anywhere below. "*" does not stand for
/// these.
inline void throw_point(const char* name) {
  if (detail::fault_points_armed.load(std::memory_order_relaxed)) [[unlikely]] {
    detail::reach_throw_point(name);
  }
}

/// Whether `name` is the point that is armed: for places that prepare what the point is to
/// interrupt.
bool is_armed(const char* name);

/// The `count`-th time (from 1) that `name` is reached, the deed is done. Only one point is armed
/// at a time. Call it before the threads that may reach a point are started.
void arm_fault_point(const char* name, int count = 1, FaultDeed deed = FaultDeed::kill);

void disarm_fault_points();

}  // namespace headway
