#include "sim/hooks.hpp"

#include <algorithm>

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

void Hooks::hear(const control::AppendResult& command) {
  if (command.rank_metrics) call_back(true);
}

void Hooks::hear(const control::TellFailure&) {
  if (has_callbacks_) call_back(false);
}

void Hooks::call_back(bool of_a_report) {
  callbacks_until_ = std::max(callbacks_until_, stage_->schedule.now()) + stage_->delay(Fault::slow_hook, 20ms);
  stage_->schedule.at(callbacks_until_, [this, driver = driver_, of_a_report] {
    if (driver != driver_ || callback_raised_) return;
    if (stage_->fault(Fault::callback_fails)) {
      callback_raised_ = true;
      stage_->tell(control::FrontFailed{"simulated: a callback raised"});
      return;
    }
    if (stage_->fault(Fault::stop_asked)) stage_->tell(control::StopAsked{"simulated: far enough"});
    if (stage_->fault(Fault::checkpoint_pinned)) pin();
    if (of_a_report) stage_->tell(control::ReportHeard{});
  });
}

/// A checkpoint, which there may be, or none any more.
void Hooks::pin() {
  constexpr int names = 6;
  const int number = stage_->random.below(names);
  control::CheckpointsPinned event;
  if (number > 0) event.names.push_back("checkpoint_00000" + std::to_string(number - 1));
  stage_->tell(event);
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
  callback_raised_ = false;
  callbacks_until_ = {};
}

}  // namespace headway::sim
