#include "sim/artifacts.hpp"

#include "sim/violation.hpp"

namespace headway::sim {

using namespace std::chrono_literals;

void Artifacts::sync(const control::SyncArtifacts& command) {
  require(!under_way_, invariant::artifacts, "a copy begins beside another");
  under_way_ = command.number;
  complete_ = false;
  if (stage_->fault(Fault::copy_hangs)) return;
  const bool of_all = !workers_->any_process();
  stage_->schedule.after(stage_->delay(Fault::slow_storage, 200ms),
                         [this, driver = driver_, number = command.number, of_all] {
                           if (driver != driver_) return;
                           control::ArtifactsSynced synced{number, {}};
                           if (stage_->fault(Fault::copy_fails)) synced.error = "simulated: no space left on device";
                           if (under_way_ == number) {
                             under_way_.reset();
                             complete_ = of_all && !synced.error;
                           }
                           stage_->tell(synced);
                         });
}

void Artifacts::stop(const control::StopSync& command) {
  require(under_way_ == command.number, invariant::artifacts, "a copy that has ended is stopped");
  under_way_.reset();
}

void Artifacts::leave(const control::LeaveWorkingDirectory& command) const {
  require(!workers_->any_process(), invariant::artifacts, "the working directory is left while ranks are in it");
  require(!under_way_, invariant::artifacts, "the working directory is left while it is copied");
  require(command.synced == (complete_ && !lost_), invariant::artifacts,
          "the working directory may go, and is not copied, or not go");
}

/// Its copiers go with it.
void Artifacts::driver_died() {
  ++driver_;
  under_way_.reset();
  complete_ = false;
}

}  // namespace headway::sim
