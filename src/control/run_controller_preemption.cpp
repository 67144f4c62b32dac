#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"
#include "control/survivors.hpp"

/// The driver's process is to end (SIGTERM), and the run with it.
///
/// The ranks have a notice period to save a checkpoint. The run ends as soon as one is stored: what
/// they would train after it would be lost. A training function that returns meanwhile has
/// finished. No attempt follows; the next driver resumes the run.
namespace headway::control {

void RunController::on(const DriverPreempted& event) {
  if (end_.abort_reason() || state_ == RunState::closing) return;
  if (end_.driver_preempted()) {
    end_preempted_run("a second one came", any_left(group(), nodes_));
    return;
  }
  end_.preempt_driver();
  nodes_.preemption().driver_leaves(event, out_.now());
  if (state_ == RunState::running || state_ == RunState::shutting_down) {
    HEADWAY_MARK(driver_preempted);
    if (!end_.failure()) out_.push(Notify{describe_driver_notice(group(), event)});
    out_.set_timer({TimerPurpose::notice}, from_seconds(event.notice_s));
  } else {
    HEADWAY_MARK(driver_preempted_between);
    end_preempted_run("no rank was training", false);
  }
}

/// Called after every event.
void RunController::leave_when_saved() {
  const auto& saved = nodes_.preemption().saved();
  if (!saved || state_ != RunState::running || !reports_.empty()) return;
  HEADWAY_MARK(driver_preempted_saved);
  end_preempted_run(*saved + " was saved after that", false);
}

/// Ends what is left of the run, whatever it does.
void RunController::end_preempted_run(const std::string& why, bool timed_out) {
  if (end_.abort_reason() || state_ == RunState::closing) return;
  if (at_work()) {
    fail_attempt(driver_failure(why, timed_out));
    group_is_over();  // Its processes may be gone already, and callbacks be waited for.
  } else if (state_ == RunState::shutting_down) {
    end_group(EndMode::kill, "the driver received SIGTERM");  // How the run ends is decided.
  } else if (state_ == RunState::validating) {
    leave_validations();
    close_run();
  } else {  // Before the first attempt, or between two.
    end_.fail(driver_failure(why, timed_out));
    if (attempt_.gone() && reports_.empty()) {
      end_run();
    } else {
      state_ = RunState::shutting_down;  // The group ends already.
    }
  }
}

/// A later driver validates what is left. The run is not complete before.
void RunController::leave_validations() {
  if (!validations_.queue().settled() && !end_.failure())
    end_.fail(
        driver_failure("the training had ended, but not the validation of " + validations_.queue().words(), false));
}

RunFailure RunController::driver_failure(const std::string& why, bool timed_out) const {
  Preemption preemption{nodes_.preemption().info(group()).value(), timed_out};
  if (!at_work()) {
    preemption.info.preempted_node_to_ranks.clear();
    return describe_driver_preemption(nullptr, std::move(preemption), why, attempt_.number(), out_.now());
  }
  return describe_driver_preemption(&group(), std::move(preemption),
                                    why + ", in attempt " + std::to_string(attempt_.number()), attempt_.number(),
                                    out_.now());
}

/// A failure between the driver's notice and its end. What is lost of the group went with the
/// driver's machine, or with its other machines; what a training function raises is its own.
RunFailure RunController::of_preempted_driver(RunFailure failure) const {
  if (failure.preemption && failure.preemption->of_driver) return failure;
  if (failure.kind == ErrorKind::preempted) {
    return driver_failure("its nodes were taken away", failure.preemption->timed_out);
  }
  if (failure.kind != ErrorKind::worker_died) return failure;
  std::string why = headline(failure);
  if (const std::size_t attempt = why.find(", in attempt "); attempt != std::string::npos) why.resize(attempt);
  return driver_failure(why, any_left(group(), nodes_));
}

}  // namespace headway::control
