#include "sim/nodes.hpp"

namespace headway::sim {

using namespace std::chrono_literals;

void Nodes::acquire(const control::AcquireNodes& command) {
  held_ = true;
  stage_->schedule.after(stage_->random.between(0ms, 30ms), [this, driver = driver_, workers = command.workers] {
    if (driver != driver_) return;
    if (stage_->fault(Fault::nodes_refused))
      return stage_->tell(control::NodesRefused{{ErrorKind::unavailable, "simulated: too few CPUs"}});
    control::NodesGranted granted;
    for (int rank = 0; rank < workers; ++rank) {
      const int place = rank % scenario_->nodes;
      granted.slots.push_back(
          {id_of(place), "host-" + std::to_string(place), "10.0.0." + std::to_string(place), 1, {}});
    }
    stage_->tell(granted);
  });
}

std::string Nodes::id_of(int place) const {
  return "node-" + std::to_string(place) + "." + std::to_string(lost_[static_cast<std::size_t>(place)]);
}

std::string Nodes::lose_one() {
  const int place = stage_->random.below(scenario_->nodes);
  const std::string lost = id_of(place);
  ++lost_[static_cast<std::size_t>(place)];
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
