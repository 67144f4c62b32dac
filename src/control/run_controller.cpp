#include "control/run_controller.hpp"

#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "core/location.hpp"

#include <algorithm>

namespace headway::control {

RunController::RunController(RunSpec spec)
    : spec_(std::move(spec)),
      book_(spec_.checkpoint),
      validations_(spec_.validation),
      sync_(spec_.sync),
      policy_(spec_.failure),
      growth_(spec_.scaling.elastic_resize_monitor_interval_s),
      preemption_(spec_.failure.preemption_grace_s),
      hang_watch_(spec_.failure),
      collective_watch_(spec_.collectives ? hang_watch_.first_limit() : std::nullopt),
      stop_conditions_(spec_.stop) {}

Commands RunController::handle(Time now, const Event& event) {
  now_ = now;
  const RunState before = state_;
  out_.clear();
  if (state_ != RunState::over) std::visit([this](const auto& what) { on(what); }, event);
  stop_when_settled();
  end_bereaved_group();
  consider_growing();
  watch_hangs();
  if (state_ != before) state_since_ = now_;
  return std::exchange(out_, {});
}

void RunController::on(const StartAsked&) {
  if (state_ != RunState::created) return;
  state_ = RunState::preparing;
  started_ = last_report_ = now_;
  out_.push_back(PrepareStorage{});
}

void RunController::on(const StoragePrepared& event) {
  if (state_ != RunState::preparing) return;
  if (event.error) {
    HEADWAY_MARK(storage_refused);
    failure_ = failure_of(FailureSource::storage, event.error->kind, event.error->message);
    state_ = RunState::over;  // Nothing was written, so there is no journal to close.
    out_.push_back(Finish{{"errored", failure_, {}, 0}});
    return;
  }
  for (const std::string& warning : event.warnings) out_.push_back(Warn{warning});
  if (event.found) take_up(*event.found);
  state_ = RunState::scheduling;
  write_journal();
  // In a new run's folder too: a driver may have died there before it had written a journal.
  out_.push_back(SweepStorage{});
  acquire_nodes();
}

void RunController::on(const NodesGranted& event) {
  if (state_ != RunState::scheduling) return;
  slots_ = event.slots;
  for (const std::string& warning : event.warnings) out_.push_back(Warn{warning});
  start_where_granted();
}

void RunController::on(const NodesRefused& event) {
  if (state_ != RunState::scheduling) return;
  HEADWAY_MARK(nodes_refused);
  failure_ = failure_of(FailureSource::nodes, event.error.kind, event.error.message);
  // Before the first attempt nothing has been begun, and nothing is.
  if (attempt_ == attempts_before_) {
    close_run();
  } else {
    end_run();
  }
}

void RunController::start_attempt() {
  state_ = RunState::starting;
  ++attempt_;
  attempt_started_ = now_;
  attempt_iterations_ = 0;
  failure_.reset();
  echo_.reset();
  held_.reset();
  upload_error_.reset();
  hook_since_.reset();
  ending_since_.reset();
  timers_.clear();
  questions_.clear();
  group_ = WorkerGroup::place(slots_, now_);
  barrier_ = ReportBarrier(group_.size());
  collectives_ = CollectiveBarrier(group_.size());
  group_gone_ = false;
  growth_.begin(now_);
  growth_timer_.reset();
  preemption_.begin();
  std::optional<std::string> checkpoint = spec_.resume_from_checkpoint;
  if (const auto newest = book_.newest()) checkpoint = *newest;
  if (attempt_ > attempts_before_ + 1) out_.push_back(SweepStorage{});
  out_.push_back(StartWorkers{attempt_, group_.plans(), checkpoint, spec_.trial_id});
  tell_size();
  begin_upkeep();
  write_journal();
  start_validations();  // Those that an earlier driver of the run has left. Not before: the training claims its nodes first.
  if (is_remote(spec_.run.storage_path)) set_timer(TimerPurpose::sync, sync_interval);
}

void RunController::on(const WorkerReady& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::starting) return;
  group_.at(event.rank).pid = event.pid;
  group_.enter(event.rank, RankPhase::ready, now_);
  if (!group_.all_in(RankPhase::ready)) return;
  hook_since_ = now_;
  out_.push_back(RunSetup{attempt_});
}

void RunController::on(const SetupFinished& event) {
  if (event.attempt != attempt_ || state_ != RunState::starting) return;
  hook_since_.reset();
  if (event.error) {
    HEADWAY_MARK(setup_failed);
    fail_attempt(describe_setup(group_, *event.error, attempt_));
    return;
  }
  state_ = RunState::running;
  trained_ = true;
  collective_watch_.restart(now_, group_.size());
  for (int rank = 0; rank < group_.size(); ++rank) group_.enter(rank, RankPhase::training, now_);
  out_.push_back(BeginTraining{attempt_});
  write_journal();
}

void RunController::on(const RankReturned& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::running) return;
  group_.enter(event.rank, RankPhase::returned, now_);
  check_unmatched_report();
  check_unmatched_collective();
  finish_when_all_returned();
}

/// Training is over when every rank has returned and every checkpoint that was still under way has come to its end.
void RunController::finish_when_all_returned() {
  if (state_ != RunState::running || !pending_.empty() || unheard_ > 0 || !group_.all_in(RankPhase::returned)) return;
  if (upload_error_) {
    HEADWAY_MARK(failure_at_the_end);
    fail_attempt(failure_of(FailureSource::storage, ErrorKind::unavailable,
                            *upload_error_ + "\nNo report came after it that could have told the ranks.\n"));
    return;
  }
  state_ = RunState::shutting_down;
  if (group_gone_) return;
  hook_since_ = now_;
  out_.push_back(RunTeardown{attempt_});
}

Duration RunController::exit_limit() const {
  const double hang_fail_s = spec_.failure.hang_fail_s.value_or(0);
  return hang_fail_s > 0 && hang_fail_s < to_seconds(exit_grace) ? from_seconds(hang_fail_s) : exit_grace;
}

void RunController::on(const TeardownFinished& event) {
  if (event.attempt != attempt_ || state_ != RunState::shutting_down || failure_ || abort_reason_ || ending_since_)
    return;
  end_group(EndMode::graceful, "every rank has finished");
  set_timer(TimerPurpose::exit, exit_limit());
}

void RunController::on(const RankRaised& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::running) return;
  group_.enter(event.rank, RankPhase::raised, now_);
  if (preemption_.bereaved()) return;  // Its peer is gone; what others have left to do counts.
  RunFailure failure = describe_raise(group_, event.rank, event.error, attempt_, now_);
  if (!event.error.echo) {
    HEADWAY_MARK(raised);
    fail_attempt(std::move(failure));
    return;
  }
  // The cause is on its way: a peer's exception, or the news of its death.
  if (!echo_) {
    echo_ = std::move(failure);
    set_timer(TimerPurpose::echo, echo_grace);
  }
  const bool nobody_left = std::all_of(group_.ranks().begin(), group_.ranks().end(), [](const RankState& rank) {
    return rank.phase == RankPhase::raised || rank.phase == RankPhase::returned;
  });
  if (nobody_left) {
    HEADWAY_MARK(echo_of_all);
    fail_attempt(std::move(*echo_));
  }
}

void RunController::on(const WorkerExited& event) {
  if (!current(event.attempt, event.rank)) return;
  const RankPhase phase = group_.at(event.rank).phase;
  group_.at(event.rank).gone = true;
  group_.at(event.rank).open_calls = 0;
  if (at_work() && phase != RankPhase::returned && phase != RankPhase::raised) {
    if (preemption_.leaving(group_.at(event.rank).plan.slot.node_id)) {
      bereave();
    } else {
      HEADWAY_MARK(death);
      fail_attempt(describe_exit(group_, event.rank, event.status, event.log_tail, attempt_, now_));
    }
  }
  if (phase == RankPhase::returned && !failure_ && !abort_reason_ &&
      (event.status.signaled || event.status.code != 0)) {
    HEADWAY_MARK(death_after_return);
    out_.push_back(Warn{group_.name_of(event.rank) + " " + to_text(event.status) +
                        " after its training function had returned; the run's result stands"});
  }
  // A rank that had returned or raised before it died has still done so: others may wait for it, or for its cause.
  if (phase != RankPhase::returned && phase != RankPhase::raised) group_.enter(event.rank, RankPhase::exited, now_);
  forget_uploads_of(event.rank);
}

/// What a failure of the current attempt counts as.
FailureCause RunController::cause_of(const RunFailure& failure) const {
  if (failure.kind == ErrorKind::preempted) return FailureCause::preemption;
  // When not one group has come to its training, that is no passing trouble of the nodes.
  const bool start = state_ == RunState::starting && trained_ && failure.kind == ErrorKind::worker_died;
  return start ? FailureCause::start : FailureCause::group;
}

void RunController::fail_attempt(RunFailure failure) {
  if (!at_work() || failure_) return;
  const bool of_the_ranks = failure.kind == ErrorKind::user_code || failure.kind == ErrorKind::worker_died;
  if (preemption_.bereaved() && of_the_ranks && !callback_failed_) failure = preemption_failure(any_at_work());
  failure_ = std::move(failure);
  failure_cause_ = cause_of(*failure_);
  echo_.reset();
  if (!callback_failed_) out_.push_back(TellFailure{attempt_, *failure_});
  const bool ending = abort_reason_ || stop_reason_ || callback_failed_ || lost_;
  const bool may_restart = !ending && failure_->kind != ErrorKind::internal;
  const bool restart = may_restart && policy_.allow_restart(failure_cause_);
  if (!restart) HEADWAY_MARK(given_up);
  if (may_restart && !restart) failure_->message += policy_.end_text(failure_cause_);
  state_ = restart ? RunState::restarting : RunState::shutting_down;
  end_group(EndMode::kill, headline(*failure_));
}

void RunController::end_group(EndMode mode, const std::string& reason) {
  if (attempt_ends_.size() < static_cast<std::size_t>(attempt_)) attempt_ends_.push_back(reason);
  if (group_gone_) return;
  if (!ending_since_) ending_since_ = now_;
  out_.push_back(EndWorkers{attempt_, mode, reason});
}

void RunController::on(const GroupEnded& event) {
  if (event.attempt != attempt_ || group_gone_) return;
  group_gone_ = true;
  timers_.clear();
  if (echo_) {  // Nobody is left who could tell its cause.
    HEADWAY_MARK(echo_of_a_group_that_ended);
    fail_attempt(std::move(*echo_));
  }
  settle_reports();
}

/// Goes on once no process is left and every report has come to its end: that decides which checkpoint is the newest.
void RunController::group_is_over() {
  if (!group_gone_ || !pending_.empty() || (state_ == RunState::running && unheard_ > 0)) return;
  if (state_ == RunState::restarting && !stop_reason_) {
    restart();
  } else {
    if (state_ == RunState::restarting) failure_.reset();
    end_run();
  }
}

void RunController::restart() {
  if (resizing_) {
    resize();
    return;
  }
  const Duration wait = policy_.restart_wait(failure_cause_, attempt_iterations_ > 0);
  notify_restart(wait);
  if (wait == Duration::zero()) {
    HEADWAY_MARK(restart_at_once);
    start_again();
  } else {
    HEADWAY_MARK(restart_waits);
    write_journal();  // Who looks into the folder meanwhile, or takes the run up, finds why.
    set_timer(TimerPurpose::restart, wait);
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
  out_.push_back(Notify{"Restarting the worker group (" + policy_.count_text(failure_cause_) + ") " + resumed_from() +
                        when + ": " + failure_->message});
}

void RunController::on(const AbortAsked& event) {
  // In closing the run has come to its end already, and its last journal says so.
  if (abort_reason_ || state_ == RunState::closing) return;
  abort_reason_ = event.reason;
  stop_validations(event.reason);
  if (group_gone_ && pending_.empty()) {  // There is nobody to end, be it before the first attempt or between two.
    HEADWAY_MARK(abort_of_nobody);
    close_run();
  } else {
    HEADWAY_MARK(abort_of_a_group);
    state_ = RunState::shutting_down;
    end_group(EndMode::terminate, event.reason);
    set_timer(TimerPurpose::terminate, terminate_grace);
  }
}

void RunController::on(const TimerFired& event) {
  if (on_upkeep_timer(event.timer) || on_validation_timer(event.timer) || on_question_timer(event.timer)) return;
  if (event.timer == hang_timer_) hang_watch_.woken();
  if (event.timer == look_timer_) collective_watch_.woken();
  if (event.timer == growth_timer_) growth_.woken();
  const auto timer =
      std::find_if(timers_.begin(), timers_.end(), [&](const Timer& set) { return set.id == event.timer; });
  if (timer == timers_.end()) return;
  const TimerPurpose purpose = timer->purpose;
  timers_.erase(timer);
  switch (purpose) {
    case TimerPurpose::echo:
      if (echo_) {
        HEADWAY_MARK(echo_believed);
        fail_attempt(std::move(*echo_));
      }
      break;
    case TimerPurpose::exit:
      if (!group_gone_) {
        HEADWAY_MARK(exit_grace_over);
        out_.push_back(
            Warn{rank_list(group_.alive()) + " had not exited " + seconds_text(exit_limit()) +
                 " after the training function had returned (a thread or an exit handler that does not end?) "
                 "and must be killed; the run's result stands"});
        end_group(EndMode::kill, "did not exit in time");
      }
      break;
    case TimerPurpose::restart:
      if (state_ == RunState::restarting && group_gone_) start_again();
      break;
    case TimerPurpose::sync:
      sync_folder();
      set_timer(TimerPurpose::sync, sync_interval);
      break;
    case TimerPurpose::terminate:
      if (!group_gone_) {
        HEADWAY_MARK(terminate_grace_over);
        end_group(EndMode::kill, attempt_ends_.back());
      }
      break;
    case TimerPurpose::preemption: end_preempted_group(); break;
  }
}

void RunController::set_timer(TimerPurpose purpose, Duration from_now) {
  timers_.push_back({timers_set_++, purpose});
  out_.push_back(SetTimer{timers_.back().id, now_ + from_now});
}

}  // namespace headway::control
