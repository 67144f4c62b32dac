#include "control/timers.hpp"

namespace headway::control {

std::int64_t Timers::set(Timer timer) {
  set_[ids_] = timer;
  return ids_++;
}

void Timers::cancel(Timer timer) {
  std::erase_if(set_, [&](const auto& entry) { return entry.second == timer; });
}

void Timers::cancel_attempt() {
  std::erase_if(set_, [](const auto& entry) { return entry.second.purpose <= TimerPurpose::preemption; });
}

std::optional<Timer> Timers::fired(std::int64_t id) {
  const auto node = set_.extract(id);
  if (node.empty()) return std::nullopt;
  return node.mapped();
}

}  // namespace headway::control
