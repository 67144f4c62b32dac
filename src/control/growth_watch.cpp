#include "control/growth_watch.hpp"

#include <utility>

namespace headway::control {

void GrowthWatch::begin(Time now) {
  looking_ = waking_ = saved_ = false;
  grow_by_.reset();
  considered_ = now;
}

void GrowthWatch::seen(Time now, bool larger) {
  if (std::exchange(looking_, false) && larger) grow_by_ = now + interval_;
}

GrowthWatch::Step GrowthWatch::wake(Time at) {
  if (std::exchange(waking_, true)) return {};
  return {false, false, at};
}

GrowthWatch::Step GrowthWatch::advance(Time now, bool storing) {
  if (grow_by_) {
    if (saved_ || (due(now) && !storing)) return {false, true, {}};
    if (due(now)) return {};  // The end of what is being stored is a separate event.
    return wake(*grow_by_);
  }
  if (!hinted_ || looking_) return {};
  if (now < considered_ + interval_) return wake(considered_ + interval_);
  hinted_ = false;
  looking_ = true;
  considered_ = now;
  return {true, false, {}};
}

}  // namespace headway::control
