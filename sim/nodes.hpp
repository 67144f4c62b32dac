#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"

namespace headway::sim {

/// Where workers may run: grants a place for each, or refuses.
class Nodes {
 public:
  Nodes(Stage& stage, const Scenario& scenario) : stage_(&stage), scenario_(&scenario) {}

  void acquire(const control::AcquireNodes& command);
  void release() { held_ = false; }
  void driver_died();

  bool held() const { return held_; }

 private:
  Stage* stage_;
  const Scenario* scenario_;
  bool held_ = false;
  int driver_ = 0;
};

}  // namespace headway::sim
