#include "core/fault_point.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headway {

namespace {

std::string armed_name;
std::atomic<int> reaches_left{0};
FaultDeed armed_deed = FaultDeed::kill;

bool arm_from_environment() {
  const char* setting = std::getenv("HEADWAY_FAULT_POINT");
  if (setting == nullptr || *setting == '\0') return false;
  const std::string_view text = setting;
  const std::size_t colon = text.find(':');
  const int count = colon == std::string_view::npos ? 1 : std::atoi(setting + colon + 1);
  const FaultDeed deed = text.ends_with(":stop")    ? FaultDeed::stop
                         : text.ends_with(":throw") ? FaultDeed::raise
                                                    : FaultDeed::kill;
  arm_fault_point(std::string(text.substr(0, colon)).c_str(), count, deed);
  return true;
}

}  // namespace

namespace detail {

std::atomic<bool> fault_points_armed{false};

void reach_fault_point(const char* name) {
  if (armed_name != "*" && armed_name != name) return;
  if (reaches_left.fetch_sub(1) == 1) std::raise(armed_deed == FaultDeed::stop ? SIGSTOP : SIGKILL);
}

void reach_throw_point(const char* name) {
  if (armed_name != name || armed_deed != FaultDeed::raise) return;
  if (reaches_left.fetch_sub(1) == 1) throw std::runtime_error("the fault point " + armed_name);
}

}  // namespace detail

void arm_fault_point(const char* name, int count, FaultDeed deed) {
  armed_name = name;
  armed_deed = deed;
  reaches_left = count < 1 ? 1 : count;
  detail::fault_points_armed = true;
}

bool is_armed(const char* name) {
  return detail::fault_points_armed.load(std::memory_order_relaxed) && (armed_name == "*" || armed_name == name);
}

void disarm_fault_points() { detail::fault_points_armed = false; }

// After every object above has been made: within one file they are made in order.
[[maybe_unused]] static const bool armed_from_environment = arm_from_environment();

}  // namespace headway
