#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"

#include <string>
#include <vector>

namespace headway::sim {

/// Where workers may run: grants a place for each, or refuses.
class Nodes {
 public:
  Nodes(Stage& stage, const Scenario& scenario) : stage_(&stage), scenario_(&scenario) {}

  void acquire(const control::AcquireNodes& command);
  void release() { held_ = false; }
  void driver_died();

  bool held() const { return held_; }

  /// One of them, any, is lost, and another one joins in its place; the lost one's id.
  std::string lose_one();
  bool there(const std::string& node_id) const;

 private:
  Stage* stage_;
  const Scenario* scenario_;
  std::string id_of(int place) const;

  bool held_ = false;
  std::vector<int> lost_ =
      std::vector<int>(static_cast<std::size_t>(scenario_->nodes), 0);  ///< How many were, by place.
  int driver_ = 0;
};

}  // namespace headway::sim
