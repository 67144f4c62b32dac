#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

/// What callbacks of the front end hear, how far ranks may be ahead of them, and ends that the user has asked for.
namespace headway::control {

/// Whether ranks are further ahead of the callbacks than they may.
bool RunController::too_far_ahead() const { return spec_.callback_lag_max && unheard_ > *spec_.callback_lag_max; }

/// The run's callbacks have not heard a report for which somebody waits.
bool RunController::callbacks_awaited() const { return unheard_ > 0 && (held_ || group_.all_in(RankPhase::returned)); }

/// A report was recorded: its ranks go on, unless the run stops with it, or they must wait for the callbacks.
void RunController::pass_on(const PendingReport& report, const ReportLine& line) {
  if (spec_.callback_lag_max && unheard_++ == 0) callbacks_since_ = now_;
  StopConditions::Verdict verdict = stop_conditions_.judge(line);
  if (verdict.warning) out_.push_back(Warn{std::move(*verdict.warning)});
  if (verdict.stop) ask_for_stop(std::move(*verdict.stop));
  if (report.answered || stop_reason_) return;
  if (too_far_ahead()) {
    HEADWAY_MARK(ranks_wait_for_callbacks);
    held_ = report;
  } else {
    answer(report, std::nullopt);
  }
}

void RunController::on(const ReportHeard&) {
  if (unheard_ == 0) return;
  --unheard_;
  callbacks_since_ = now_;
  if (held_ && !too_far_ahead() && !stop_reason_) {
    answer(*held_, std::nullopt);
    held_.reset();
  }
  answer_asynchronous();
  if (state_ != RunState::running) return;
  finish_when_all_returned();
  group_is_over();
}

void RunController::on(const StopAsked& event) { ask_for_stop(event.reason); }

void RunController::ask_for_stop(std::string reason) {
  if (stop_reason_ || abort_reason_ || state_ >= RunState::shutting_down) return;
  stop_reason_ = std::move(reason);
  out_.push_back(Notify{"The run stops: " + *stop_reason_});
}

/// What was reported before is stored first. The failure of an attempt that would have been followed by another is none now.
void RunController::stop_when_settled() {
  if (!stop_reason_ || !pending_.empty()) return;
  if (at_work()) {
    HEADWAY_MARK(stopped_at_work);
    state_ = RunState::shutting_down;
    end_group(EndMode::terminate, *stop_reason_);
    set_timer(TimerPurpose::terminate, terminate_grace);
    group_is_over();
  } else if (group_gone_ && state_ < RunState::shutting_down) {
    HEADWAY_MARK(stopped_between_attempts);
    failure_.reset();
    end_run();
  }
}

/// A callback has raised: the run fails by it, with no attempt after this one.
void RunController::on(const FrontFailed& event) {
  if (abort_reason_ || state_ == RunState::closing) return;
  HEADWAY_MARK(callback_failed);
  callback_failed_ = true;
  RunFailure failure = failure_of(FailureSource::callback, ErrorKind::user_code, event.message);
  if (at_work()) {
    fail_attempt(std::move(failure));
    group_is_over();
    return;
  }
  failure_ = std::move(failure);
  if (group_gone_ && pending_.empty()) {
    end_run();
  } else {
    state_ = RunState::shutting_down;
    end_group(EndMode::kill, headline(*failure_));
  }
}

}  // namespace headway::control
