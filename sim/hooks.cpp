#include "sim/hooks.hpp"

namespace headway::sim {

using namespace std::chrono_literals;

void Hooks::answer(Duration after, control::Event event) {
  stage_->schedule.after(after, [this, driver = driver_, event = std::move(event)] {
    if (driver == driver_) stage_->tell(event);
  });
}

void Hooks::set_up(const control::RunSetup& command) {
  setting_up_ = command.attempt;
  if (may_hang_ && stage_->fault(Fault::hangs)) return;
  const Duration after = stage_->delay(Fault::slow_hook, 50ms);
  stage_->schedule.after(after, [this, driver = driver_, attempt = command.attempt] {
    if (driver != driver_ || setting_up_ != attempt) return;
    setting_up_ = 0;
    control::SetupFinished finished{attempt, {}};
    if (stage_->fault(Fault::setup_fails)) finished.error = RankError{"OSError", "simulated: port in use", "", false};
    stage_->tell(finished);
  });
}

void Hooks::rank_is_gone(int attempt) {
  if (setting_up_ != attempt) return;
  setting_up_ = 0;
  answer(stage_->random.between(0ms, 20ms),
         control::SetupFinished{attempt, RankError{"WorkerDied", "a rank's process is gone", "", false}});
}

void Hooks::interrupt(const control::InterruptHook& command) { rank_is_gone(command.attempt); }

void Hooks::tear_down(const control::RunTeardown& command) {
  if (may_hang_ && stage_->fault(Fault::hangs)) return;
  answer(stage_->delay(Fault::slow_hook, 50ms), control::TeardownFinished{command.attempt});
}

void Hooks::driver_died() {
  ++driver_;
  setting_up_ = 0;
}

}  // namespace headway::sim
