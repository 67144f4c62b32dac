#pragma once

#include "control/commands.hpp"
#include "control/events.hpp"
#include "core/time.hpp"

#include <string>
#include <string_view>

namespace headway::sim {

using ReportLine = decltype(control::AppendResult::line);

/// "WorkerExited attempt 2 rank 1 killed by signal 9": a readable line for an event or a command,
/// from the members that most have.
std::string words(const control::Event& event);
std::string words(const control::Command& command);

/// What happened in one run, line by line on standard output; silent unless it was turned on.
class Trace {
 public:
  void turn_on() { on_ = true; }
  bool on() const { return on_; }

  void event(Time now, const control::Event& event) const;
  void command(const control::Command& command) const;
  void state(std::string_view state) const;
  void fault(Time now, std::string_view what) const;
  void note(Time now, std::string_view what) const;

 private:
  bool on_ = false;
};

}  // namespace headway::sim
