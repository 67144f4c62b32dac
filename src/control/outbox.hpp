#pragma once

#include "control/commands.hpp"
#include "control/timers.hpp"
#include "core/time.hpp"

#include <optional>
#include <utility>

namespace headway::control {

/// Where the controller and its pieces put what they want done about an event. The pieces get it
/// with each call and keep no reference to it.
class Outbox {
 public:
  /// An event is handled at this time.
  void begin(Time now) {
    now_ = now;
    commands_.clear();
  }
  /// What is to be done about it, in order.
  Commands take() { return std::exchange(commands_, {}); }

  Time now() const { return now_; }
  void push(Command command) { commands_.push_back(std::move(command)); }

  void set_timer(Timer timer, Time at) { push(SetTimer{timers_.set(timer), at}); }
  void set_timer(Timer timer, Duration from_now) { set_timer(timer, now_ + from_now); }
  /// The last one of these that was set counts alone.
  void reset_timer(Timer timer, Time at) {
    timers_.cancel(timer);
    set_timer(timer, at);
  }
  void cancel_timer(Timer timer) { timers_.cancel(timer); }
  void cancel_timers_of_attempt() { timers_.cancel_attempt(); }
  std::optional<Timer> fired(std::int64_t id) { return timers_.fired(id); }

 private:
  Time now_{};
  Commands commands_;
  Timers timers_;
};

}  // namespace headway::control
