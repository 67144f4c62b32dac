#include "sim/nodes.hpp"

#include <algorithm>
#include <utility>

namespace headway::sim {

using namespace std::chrono_literals;

/// What is held is given back with it.
void Nodes::acquire(const control::AcquireNodes& command) {
  if (std::exchange(held_, true)) tell_capacity_changed();
  stage_->schedule.after(stage_->random.between(0ms, 30ms), [this, driver = driver_, workers = command.workers] {
    if (driver != driver_) return;
    if (stage_->fault(Fault::nodes_refused))
      return stage_->tell(control::NodesRefused{{ErrorKind::unavailable, "simulated: too few CPUs"}});
    control::NodesGranted granted;
    for (int rank = 0; rank < std::min(workers, capacity_); ++rank) {
      const int place = rank % scenario_->nodes;
      granted.slots.push_back(
          {id_of(place), "host-" + std::to_string(place), "10.0.0." + std::to_string(place), 1, {}});
    }
    stage_->tell(granted);
  });
}

/// As the engine does whenever somebody gives back.
void Nodes::release() {
  held_ = false;
  tell_capacity_changed();
}

void Nodes::tell_capacity_changed() {
  if (!elastic()) return;
  stage_->schedule.after(stage_->random.between(0ms, 1ms), [this, driver = driver_] {
    if (driver == driver_) stage_->tell(control::CapacityChanged{});
  });
}

void Nodes::look(const control::LookForCapacity& command) {
  stage_->schedule.after(stage_->random.between(0ms, 1ms), [this, driver = driver_, workers = command.wanted.workers] {
    if (driver == driver_) stage_->tell(control::CapacitySeen{std::min(workers, capacity_)});
  });
}

void Nodes::change_capacity() {
  const ScalingConfig& scaling = scenario_->spec.scaling;
  const int before = capacity_;
  const int least = scaling.min_workers.value_or(scaling.num_workers);
  capacity_ = least + stage_->random.below(scaling.num_workers - least + 1);
  if (capacity_ > before) tell_capacity_changed();
}

std::string Nodes::id_of(int place) const {
  return "node-" + std::to_string(place) + "." + std::to_string(lost_[static_cast<std::size_t>(place)]);
}

std::string Nodes::lose_one() {
  const int place = stage_->random.below(scenario_->nodes);
  const std::string lost = id_of(place);
  ++lost_[static_cast<std::size_t>(place)];
  if (elastic() && stage_->random.one_in(2)) change_capacity();
  return lost;
}

bool Nodes::there(const std::string& node_id) const {
  for (int place = 0; place < scenario_->nodes; ++place) {
    if (id_of(place) == node_id) return true;
  }
  return false;
}

void Nodes::driver_died() {
  held_ = false;
  ++driver_;
}

}  // namespace headway::sim
