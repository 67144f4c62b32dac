#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"
#include "control/run_words.hpp"
#include "control/survivors.hpp"
#include "core/counted.hpp"
#include "core/lost_peer.hpp"

#include <algorithm>

/// What ends an attempt or the run: failures, stops, aborts, a folder that is lost; and what
/// follows.
namespace headway::control {

void RunController::on(const RankRaised& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running) return;
  group().enter(event.rank, RankPhase::raised, out_.now());
  group().at(event.rank).echo = event.error.echo;
  // Its peer is gone; what others have left to do counts.
  if (nodes_.preemption().bereaved()) return;
  RunFailure failure = describe_raise(group(), event.rank, event.error, attempt_.number(), out_.now());
  if (!event.error.echo) {
    HEADWAY_MARK(raised);
    fail_attempt(std::move(failure));
    return;
  }
  wait_for_cause(std::move(failure));
}

/// The cause of an echo is on its way: a peer's exception, or the news of its death.
void RunController::wait_for_cause(RunFailure echo) {
  if (!attempt_.echo()) {
    attempt_.keep_echo(std::move(echo));
    out_.set_timer({TimerPurpose::echo}, echo_grace);
  }
  if (attempt_.nobody_trains()) {
    HEADWAY_MARK(echo_of_all);
    fail_attempt(*attempt_.take_echo());
  }
}

/// A rank that still had work to do is gone.
void RunController::on_death(const WorkerExited& event) {
  RunFailure failure = describe_exit(group(), event.rank, event.status, event.log_tail, attempt_.number(), out_.now());
  if (!ended_by_lost_peer(event.status, event.log_tail)) {
    HEADWAY_MARK(death);
    fail_attempt(std::move(failure));
    return;
  }
  group().enter(event.rank, RankPhase::exited, out_.now());
  group().at(event.rank).echo = true;
  // Why it died is known, and the others have until the deadline.
  if (!nodes_.preemption().bereaved()) wait_for_cause(std::move(failure));
}

void RunController::on(const WorkerExited& event) {
  if (!attempt_.is(event.attempt, event.rank)) return;
  RankState& rank = group().at(event.rank);
  const bool ended = rank.phase == RankPhase::returned || rank.phase == RankPhase::raised;
  rank.gone = true;
  rank.open_calls = 0;
  if (at_work() && !ended) {
    if (nodes_.preemption().leaving(rank.plan.slot.node_id)) {
      bereave();
    } else {
      on_death(event);
    }
  }
  if (rank.phase == RankPhase::returned && !end_.failure() && !end_.abort_reason() &&
      (event.status.signaled || event.status.code != 0)) {
    HEADWAY_MARK(death_after_return);
    out_.push(Warn{group().name_of(event.rank) + " " + to_text(event.status) +
                   " after its training function had returned; the run's result stands"});
  }
  // A rank that had returned or raised before it died has still done so: others may wait for it, or
  // for its cause.
  if (!ended) group().enter(event.rank, RankPhase::exited, out_.now());
  if (reports_.rank_is_gone(event.rank, group())) settle_reports();
}

/// What a failure of the current attempt counts as.
FailureCause RunController::cause_of(const RunFailure& failure) const {
  if (failure.kind == ErrorKind::preempted) return FailureCause::preemption;
  // When not one group has come to its training, that is no passing trouble of the nodes.
  const bool start = state_ == RunState::starting && attempt_.any_trained() && failure.kind == ErrorKind::worker_died;
  return start ? FailureCause::start : FailureCause::group;
}

void RunController::fail_attempt(RunFailure failure) {
  if (!at_work() || end_.failure()) return;
  const bool of_the_ranks = failure.kind == ErrorKind::user_code || failure.kind == ErrorKind::worker_died;
  if (nodes_.preemption().bereaved() && of_the_ranks && !end_.callback_failed())
    failure = preemption_failure(any_at_work(attempt_, reports_, nodes_));
  if (end_.driver_preempted() && !end_.callback_failed()) failure = of_preempted_driver(std::move(failure));
  end_.fail(failure, cause_of(failure));
  attempt_.take_echo();  // Its cause is known.
  if (!end_.callback_failed()) out_.push(TellFailure{attempt_.number(), std::move(failure)});
  const bool may_restart = !end_.decided() && end_.failure()->kind != ErrorKind::internal;
  const bool allowed = may_restart && policy_.allow_restart(end_.cause());
  const bool restart = allowed && !end_.driver_preempted();
  if (!restart) HEADWAY_MARK(given_up);
  if (may_restart && !allowed && !end_.driver_preempted()) end_.add_words(policy_.end_text(end_.cause()));
  state_ = restart ? RunState::restarting : RunState::shutting_down;
  // Ranks that end with their driver are in order: they may clean up, as after an abort.
  if (end_.driver_preempted()) {
    terminate_group(headline(*end_.failure()));
  } else {
    end_group(EndMode::kill, headline(*end_.failure()));
  }
}

void RunController::end_group(EndMode mode, const std::string& reason) {
  end_.end_attempt(attempt_.number(), reason);
  if (attempt_.gone()) return;
  attempt_.told_to_end(out_.now());
  out_.push(EndWorkers{attempt_.number(), mode, reason});
}

/// By SIGTERM, and a while later by SIGKILL.
void RunController::terminate_group(const std::string& reason) {
  end_group(EndMode::terminate, reason);
  out_.set_timer({TimerPurpose::terminate}, terminate_grace);
}

void RunController::on(const GroupEnded& event) {
  if (event.attempt != attempt_.number() || attempt_.gone()) return;
  attempt_.end();
  keep_times(true);
  out_.cancel_timers_of_attempt();
  if (auto echo = attempt_.take_echo()) {  // Nobody is left who could tell its cause.
    HEADWAY_MARK(echo_of_a_group_that_ended);
    fail_attempt(std::move(*echo));
  }
  settle_reports();
}

/// Goes on once no process is left and every report has come to its end: that decides which
/// checkpoint is the newest.
void RunController::group_is_over() {
  if (!attempt_.gone() || !reports_.empty() || (state_ == RunState::running && callbacks_.any_unheard())) return;
  if (state_ == RunState::restarting && !end_.stop_reason()) {
    restart();
  } else {
    if (state_ == RunState::restarting) end_.forget_failure();
    end_run();
  }
}

void RunController::restart() {
  if (size_.resizing()) {
    out_.push(Notify{"Resizing the worker group of " + counted(group().size(), "worker") + " " + resumed_from() +
                     ": there is capacity for more"});
    start_again();
    return;
  }
  const Duration wait = policy_.restart_wait(end_.cause(), ledger_.in_attempt() > 0);
  notify_restart(wait);
  if (wait == Duration::zero()) {
    HEADWAY_MARK(restart_at_once);
    start_again();
  } else {
    HEADWAY_MARK(restart_waits);
    write_journal();  // Who looks into the folder meanwhile, or takes the run up, finds why.
    out_.set_timer({TimerPurpose::restart}, wait);
  }
}

std::string RunController::resumed_from() const {
  const auto newest = book_.newest();
  return "from " + newest.value_or(spec_.resume_from_checkpoint.value_or("the beginning"));
}

void RunController::notify_restart(Duration wait) {
  const std::string when =
      wait == Duration::zero()
          ? ""
          : " in " + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(wait).count()) +
                " ms, as it has died again before its first report";
  out_.push(Notify{"Restarting the worker group (" + policy_.count_text(end_.cause()) + ") " + resumed_from() + when +
                   ": " + end_.failure()->message});
}

void RunController::on(const StopAsked& event) { ask_for_stop(event.reason); }

void RunController::ask_for_stop(std::string reason) {
  if (end_.stop_reason() || end_.abort_reason() || state_ >= RunState::shutting_down) return;
  end_.stop(std::move(reason));
  out_.push(Notify{"The run stops: " + *end_.stop_reason()});
}

/// What was reported before is stored first. The failure of an attempt that would have been
/// followed by another is none now.
void RunController::stop_when_settled() {
  if (!end_.stop_reason() || !reports_.empty()) return;
  if (at_work()) {
    HEADWAY_MARK(stopped_at_work);
    state_ = RunState::shutting_down;
    terminate_group(*end_.stop_reason());
    group_is_over();
  } else if (attempt_.gone() && state_ < RunState::shutting_down) {
    HEADWAY_MARK(stopped_between_attempts);
    end_.forget_failure();
    end_run();
  }
}

/// A callback has raised: the run fails by it, with no attempt after this one.
void RunController::on(const FrontFailed& event) {
  if (end_.abort_reason() || state_ == RunState::closing) return;
  HEADWAY_MARK(callback_failed);
  end_.fail_by_callback();
  RunFailure failure = failure_of(FailureSource::callback, ErrorKind::user_code, event.message);
  if (at_work()) {
    fail_attempt(std::move(failure));
    group_is_over();
    return;
  }
  end_.fail(std::move(failure));
  if (attempt_.gone() && reports_.empty()) {
    end_run();
  } else {
    state_ = RunState::shutting_down;
    end_group(EndMode::kill, headline(*end_.failure()));
  }
}

void RunController::on(const AbortAsked& event) {
  // In closing the run has come to its end already, and its last journal says so.
  if (end_.abort_reason() || state_ == RunState::closing) return;
  end_.abort(event.reason);
  validations_.stop(event.reason, out_);
  // There is nobody to end, before the first attempt or between two.
  if (attempt_.gone() && reports_.empty()) {
    HEADWAY_MARK(abort_of_nobody);
    close_run();
  } else {
    HEADWAY_MARK(abort_of_a_group);
    state_ = RunState::shutting_down;
    terminate_group(event.reason);
  }
}

void RunController::on(const FolderLost& event) { lose_run(event.error); }

/// Ends the run without writing to its folder again.
void RunController::lose_run(const Error& error) {
  if (!end_.lose_folder()) return;
  HEADWAY_MARK(folder_lost);
  upkeep_.lose_folder();
  validations_.stop(error.message, out_);  // What they find could not be written.
  RunFailure failure = failure_of(FailureSource::storage, error.kind, error.message);
  if (at_work()) {
    fail_attempt(std::move(failure));
    group_is_over();  // Its processes may be gone already, and callbacks be waited for.
    return;
  }
  const bool decided = end_.failure() && state_ != RunState::restarting;
  if (!decided) end_.fail(std::move(failure));
  if (state_ == RunState::closing) return;
  if (attempt_.gone() && reports_.empty()) {
    close_run();
  } else if (state_ == RunState::restarting) {
    state_ = RunState::shutting_down;  // Once the group is gone.
  } else if (!decided && !end_.abort_reason()) {
    end_group(EndMode::kill, error.message);  // It was about to end by itself.
  }
}

/// The training has ended, for better or worse. What it held is free for the validations that are
/// left.
void RunController::end_run() {
  if (state_ == RunState::validating) return;
  const ValidationQueue& validations = validations_.queue();
  if (end_.driver_preempted()) leave_validations();
  if (end_.abort_reason() || end_.folder_lost() || end_.driver_preempted() || validations.idle()) {
    close_run();
    return;
  }
  state_ = RunState::validating;
  out_.push(ReleaseNodes{});
  if (!validations.settled()) {
    write_journal();
    out_.push(Notify{"The training has ended; waiting for the validation of " + validations.words()});
  }
  validations_.start(out_);
}

void RunController::close_run() {
  if (state_ == RunState::created || state_ == RunState::preparing) {
    HEADWAY_MARK(abort_before_storage);
    finish();  // Without a journal: whether the folder is ours is not known yet.
    return;
  }
  if (state_ != RunState::validating) out_.push(ReleaseNodes{});
  state_ = RunState::closing;
  validations_.stop(end_.abort_reason().value_or("the run ends"), out_);
  delete_old();
  upkeep_.close(attempt_.of_this_driver() > 0, end_.abort_reason().has_value(), out_);
  write_last_journal();
}

void RunController::finish() {
  state_ = end_.state();
  RunOutcome outcome = end_.outcome(book_.kept(), attempt_.number());
  outcome.dropped_checkpoints = ledger_.dropped_checkpoints();
  std::string words;
  const bool preempted = outcome.failure && outcome.failure->kind == ErrorKind::preempted;
  if (const int attempts = attempt_.of_this_driver(); attempts > 0)
    words = end_words(spec_, book_,
                      {preempted ? "preempted" : outcome.state, out_.now() - ledger_.started(), ledger_.count(),
                       ledger_.of_this_driver(), attempts - 1, data_.verdict_words()});
  out_.push(Finish{std::move(outcome), end_.folder_lost(), std::move(words)});
}

/// The processes go with the driver, whatever is decided here; what can be kept is the reason.
void RunController::on(const DriverEnding& event) {
  HEADWAY_MARK(driver_ended);
  if (!end_.abort_reason() && state_ != RunState::closing) end_.abort(event.reason);
  const bool journal_there = state_ != RunState::created && state_ != RunState::preparing;
  end_.end_attempt(attempt_.number(), event.reason);
  state_ = RunState::closing;
  if (journal_there && !end_.folder_lost() && !upkeep_.last_journal_ordered()) write_journal();
  finish();
}

}  // namespace headway::control
