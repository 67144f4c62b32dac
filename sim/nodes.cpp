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
      const std::string host = "host-" + std::to_string(rank % scenario_->nodes);
      granted.slots.push_back({host, host, "10.0.0." + std::to_string(rank % scenario_->nodes), 1, {}});
    }
    stage_->tell(granted);
  });
}

void Nodes::driver_died() {
  held_ = false;
  ++driver_;
}

}  // namespace headway::sim
