#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"

#include <string>
#include <vector>

namespace headway::sim {

/// Where workers may run: grants a place for each, for as many of an elastic group as there is
/// capacity for, or refuses.
class Nodes {
 public:
  Nodes(Stage& stage, const Scenario& scenario)
      : stage_(&stage), scenario_(&scenario), capacity_(scenario.spec.scaling.num_workers) {}

  void acquire(const control::AcquireNodes& command);
  void release();
  void look(const control::LookForCapacity& command);
  void driver_died();
  /// There is capacity for another number of workers within the group's range; the controller hears
  /// that there is more.
  void change_capacity();

  bool held() const { return held_; }

  /// One of them, any, is lost or gets nothing more, and another one joins in its place; its id.
  std::string lose_one();
  bool there(const std::string& node_id) const;

 private:
  Stage* stage_;
  const Scenario* scenario_;
  std::string id_of(int place) const;
  bool elastic() const { return scenario_->spec.scaling.min_workers.has_value(); }
  void tell_capacity_changed();

  bool held_ = false;
  /// How many were, by place.
  std::vector<int> lost_ = std::vector<int>(static_cast<std::size_t>(scenario_->nodes), 0);
  int driver_ = 0;
  int capacity_ = 1;
};

}  // namespace headway::sim
