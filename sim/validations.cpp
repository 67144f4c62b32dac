#include "sim/validations.hpp"

namespace headway::sim {

using namespace std::chrono_literals;

void Validations::later(std::int64_t number, Duration after, std::function<void()> what) {
  stage_->schedule.after(after, [this, driver = driver_, number, what = std::move(what)] {
    if (driver != driver_) return;
    const auto process = processes_.find(number);
    if (process != processes_.end() && !process->second.leaving) what();
  });
}

void Validations::say(std::int64_t number, control::Event event) {
  Time& said_until = processes_.at(number).said_until;
  said_until = std::max(said_until, stage_->schedule.now() + stage_->delay(Fault::slow_message, 2ms));
  stage_->schedule.at(said_until, [this, driver = driver_, event = std::move(event)] {
    if (driver == driver_) stage_->tell(event);
  });
}

void Validations::start(const control::StartValidation& command) {
  const std::int64_t number = command.number;
  processes_[number] = {};
  const auto& directories = storage_->directories();
  if (const auto found = directories.find(command.checkpoint); found != directories.end() && found->second.committed) {
    processes_[number].metrics = scenario_->validated(found->second.manifest.metrics.at("step").as_int64());
  }
  // It may wait for others' resources first.
  later(number, stage_->delay(Fault::slow_start, 100ms), [this, number] {
    say(number, control::ValidationStarted{number});
    work(number);
  });
}

void Validations::work(std::int64_t number) {
  if (scenario_->spec.validation.timeout_s && stage_->fault(Fault::validation_hangs)) return;
  later(number, stage_->random.between(1ms, 2s), [this, number] {
    if (stage_->fault(Fault::validation_crashes)) return leave(number, {true, 9, ""});
    if (stage_->fault(Fault::validation_raises)) {
      say(number, control::ValidationFailed{number, {"ValueError", "simulated: no such file", "", false}});
    } else {
      say(number, control::ValidationFinished{number, processes_.at(number).metrics});
    }
    if (stage_->fault(Fault::exits_unasked)) leave(number, {false, 0, ""});
  });
}

void Validations::end(const control::EndValidation& command) {
  const std::int64_t number = command.number;
  if (!processes_.contains(number)) return;
  if (command.mode != control::EndMode::graceful) {
    later(number, stage_->delay(Fault::slow_exit, 10ms), [this, number] { leave(number, {true, 9, ""}); });
  } else if (!stage_->fault(Fault::exit_handler_hangs)) {
    later(number, stage_->random.between(0ms, 50ms), [this, number] { leave(number, {false, 0, ""}); });
  }
}

/// The process is gone; the news of it comes after all that it had said, and what it claimed is
/// free then.
void Validations::leave(std::int64_t number, ExitStatus status) {
  Process& process = processes_.at(number);
  if (std::exchange(process.leaving, true)) return;
  process.said_until = std::max(process.said_until, stage_->schedule.now() + stage_->delay(Fault::slow_message, 2ms));
  stage_->schedule.at(process.said_until, [this, driver = driver_, number, status] {
    if (driver != driver_) return;
    processes_.erase(number);
    stage_->tell(control::ValidationExited{number, status, "last words\n"});
  });
}

void Validations::driver_died() {
  processes_.clear();
  ++driver_;
}

}  // namespace headway::sim
