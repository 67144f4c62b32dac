#include "control/run_controller.hpp"

#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_words.hpp"
#include "core/location.hpp"

#include <algorithm>
#include <utility>

/// The way of a run from one state to the next, as long as nothing fails, and where events and
/// timers go.
namespace headway::control {

RunController::RunController(RunSpec spec)
    : spec_(std::move(spec)),
      policy_(spec_.failure),
      nodes_(spec_.failure.preemption_grace_s),
      size_(spec_),
      reports_(spec_.run.storage_path),
      callbacks_(spec_.callback_lag_max),
      stop_conditions_(spec_.stop),
      book_(spec_.checkpoint),
      validations_(spec_.validation),
      upkeep_(spec_.sync, is_remote(spec_.run.storage_path)),
      waits_(spec_) {}

Commands RunController::handle(Time now, const Event& event) {
  const RunState before = state_;
  out_.begin(now);
  if (!is_over(state_)) std::visit([this](const auto& what) { on(what); }, event);
  stop_when_settled();
  leave_when_saved();
  end_bereaved_group();
  consider_growing();
  // What ended a wait may be a failure, which is reported elsewhere.
  const bool storing_failed = std::exchange(storing_failed_, false);
  waits_.watch(scene(), end_.failure() || end_.abort_reason() || storing_failed, out_);
  if (state_ != before) state_since_ = now;
  return out_.take();
}

RunScene RunController::scene() const {
  const std::vector<std::string>& ends = end_.attempt_ends();
  return {state_,     ledger_.started(),
          attempt_,   reports_,
          callbacks_, nodes_,
          data_,      ends.empty() ? std::string_view() : ends.back()};
}

void RunController::on(const StartAsked&) {
  if (state_ != RunState::created) return;
  state_ = RunState::preparing;
  ledger_.start(out_.now());
  out_.push(PrepareStorage{});
}

void RunController::on(const StoragePrepared& event) {
  if (state_ != RunState::preparing) return;
  if (event.error) {
    HEADWAY_MARK(storage_refused);
    end_.fail(failure_of(FailureSource::storage, event.error->kind, event.error->message));
    state_ = end_.state();  // Nothing was written, so there is no journal to close.
    out_.push(Finish{{"errored", end_.failure(), {}, 0}});
    return;
  }
  for (const std::string& warning : event.warnings) out_.push(Warn{warning});
  if (event.found) take_up(*event.found);
  state_ = RunState::scheduling;
  write_journal();
  // In a new run's folder too: a driver may have died there before it had written a journal.
  out_.push(SweepStorage{});
  acquire_nodes();
}

void RunController::on(const NodesGranted& event) {
  if (state_ != RunState::scheduling) return;
  nodes_.grant(event.slots);
  for (const std::string& warning : event.warnings) out_.push(Warn{warning});
  start_where_granted();
}

void RunController::on(const NodesRefused& event) {
  if (state_ != RunState::scheduling) return;
  HEADWAY_MARK(nodes_refused);
  end_.fail(failure_of(FailureSource::nodes, event.error.kind, event.error.message));
  // Before the first attempt nothing has been begun, and nothing is.
  if (attempt_.of_this_driver() == 0) {
    close_run();
  } else {
    end_run();
  }
}

void RunController::start_attempt() {
  state_ = RunState::starting;
  const Time now = out_.now();
  out_.cancel_timers_of_attempt();
  out_.cancel_timer({TimerPurpose::growth});
  end_.forget_failure();
  attempt_.begin(nodes_.slots(), now);
  ledger_.begin_attempt(now);
  group().count_reports_from(ledger_.count());
  reports_.begin_attempt(group().size());
  stragglers_.begin(group().size());
  loops_.begin(group().size(), now);
  data_.begin();
  callbacks_.begin_attempt();
  questions_.begin_attempt(out_);
  size_.growth().begin(now);
  nodes_.preemption().begin();
  std::optional<std::string> checkpoint = spec_.resume_from_checkpoint;
  if (const auto newest = book_.newest()) checkpoint = *newest;
  if (attempt_.of_this_driver() > 1) out_.push(SweepStorage{});
  const bool first = attempt_.of_this_driver() == 1;
  out_.push(StartWorkers{attempt_.number(), group().plans(), checkpoint, spec_.trial_id,
                         first ? begin_words(spec_, group().plans()) : ""});
  if (auto notice = size_.size_notice(group().size())) out_.push(Notify{std::move(*notice)});
  if (first) upkeep_.begin_copies(out_);
  write_journal();
  // Those that an earlier driver of the run has left. Not before: the training claims its nodes
  // first.
  validations_.start(out_);
  upkeep_.begin_folder_syncs(out_);
}

void RunController::on(const WorkerReady& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::starting) return;
  group().at(event.rank).pid = event.pid;
  group().enter(event.rank, RankPhase::ready, out_.now());
  if (!group().all_in(RankPhase::ready)) return;
  attempt_.hooks_called(out_.now());
  out_.push(RunSetup{attempt_.number()});
}

void RunController::on(const SetupFinished& event) {
  if (event.attempt != attempt_.number() || state_ != RunState::starting) return;
  attempt_.hooks_returned();
  if (event.error) {
    HEADWAY_MARK(setup_failed);
    fail_attempt(describe_setup(group(), *event.error, attempt_.number()));
    return;
  }
  state_ = RunState::running;
  attempt_.begin_training(out_.now());
  waits_.begin(out_.now(), group().size());
  out_.push(BeginTraining{attempt_.number()});
  write_journal();
}

void RunController::on(const RankReturned& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running) return;
  group().enter(event.rank, RankPhase::returned, out_.now());
  check_unmatched_report();
  check_unmatched_collective();
  finish_when_all_returned();
}

/// Training has ended when every rank has returned and every checkpoint that was still under way
/// has come to its end.
void RunController::finish_when_all_returned() {
  if (state_ != RunState::running || !reports_.empty() || callbacks_.any_unheard() ||
      !group().all_in(RankPhase::returned))
    return;
  if (const auto& error = reports_.error()) {
    HEADWAY_MARK(failure_at_the_end);
    fail_attempt(failure_of(FailureSource::storage, ErrorKind::unavailable,
                            *error + "\nNo report came after it that could have told the ranks.\n"));
    return;
  }
  state_ = RunState::shutting_down;
  if (attempt_.gone()) return;
  attempt_.hooks_called(out_.now());
  out_.push(RunTeardown{attempt_.number()});
}

/// How long exit handlers may take: `exit_grace`, or FailureConfig.hang_fail_s where that is
/// shorter.
Duration RunController::exit_limit() const {
  const double hang_fail_s = spec_.failure.hang_fail_s.value_or(0);
  return hang_fail_s > 0 && hang_fail_s < to_seconds(exit_grace) ? from_seconds(hang_fail_s) : exit_grace;
}

void RunController::on(const TeardownFinished& event) {
  if (event.attempt != attempt_.number() || state_ != RunState::shutting_down || end_.failure() ||
      end_.abort_reason() || attempt_.ending_since())
    return;
  end_group(EndMode::graceful, "every rank has finished");
  if (spec_.returns_slots_early && claims_cpus_alone(spec_.scaling)) out_.push(ReleaseNodes{true});
  out_.set_timer({TimerPurpose::exit}, exit_limit());
}

void RunController::on(const RanksCalled& event) {
  if (event.attempt != attempt_.number()) return;
  for (int rank : event.ranks) {
    if (group().valid(rank)) ++group().at(rank).open_calls;
  }
}

void RunController::on(const CallAnswered& event) {
  if (!attempt_.is(event.attempt, event.rank)) return;
  --group().at(event.rank).open_calls;
}

void RunController::on(const CollectivesSeen& event) {
  if (!attempt_.is(event.attempt, event.rank)) return;
  waits_.seen(event, out_.now());
  const std::vector<int> returned = waits_.returned_without_entering(attempt_);
  if (state_ != RunState::running || returned.empty()) return;
  fail_attempt(
      describe_endless_collective(group(), *waits_.stuck(), returned, waits_.positions(out_.now()), attempt_.number()));
}

void RunController::on(const RanksExamined& event) {
  const WaitWatch::Verdict verdict = waits_.examined(scene(), event, out_.now());
  if (verdict.outcome == HangWatch::Outcome::stale) return;
  if (verdict.outcome == HangWatch::Outcome::warn) {
    out_.push(Warn{describe_hang(group(), verdict.scene, event, out_.now()), true});
    return;
  }
  if (at_work()) {
    HEADWAY_MARK(hang_ends_the_attempt);
    fail_attempt(describe_hang_failure(group(), verdict.scene, event, *spec_.failure.hang_fail_s, out_.now()));
  } else if (verdict.in_hook) {
    HEADWAY_MARK(hang_in_teardown);
    out_.push(Warn{
        describe_hang(group(), verdict.scene, event, out_.now()) + "The workers are ended; the run's result stands.\n",
        true});
    on(TeardownFinished{attempt_.number()});
  }
  if (verdict.in_hook) out_.push(InterruptHook{attempt_.number(), hang_headline(verdict.scene, out_.now())});
}

void RunController::on(const TimerFired& event) {
  if (const auto timer = out_.fired(event.timer)) on_timer(*timer);
}

void RunController::on_timer(const Timer& timer) {
  switch (timer.purpose) {
    case TimerPurpose::artifacts: upkeep_.copy_is_due(out_); break;
    case TimerPurpose::artifacts_limit:
      if (upkeep_.stop_slow_copy(out_)) write_last_journal();
      break;
    case TimerPurpose::validation:
      if (const auto outcome = validations_.time_is_over(timer.number, out_)) settle_validation(*outcome);
      break;
    case TimerPurpose::question:
      if (questions_.time_is_over(timer.number)) answer_questions();
      break;
    case TimerPurpose::hang: waits_.hang_timer_fired(); break;
    case TimerPurpose::look: waits_.look_timer_fired(); break;
    case TimerPurpose::growth: size_.growth().woken(); break;
    case TimerPurpose::notice: end_preempted_run("ranks were still at work at the deadline", true); break;
    default: on_timer_of_attempt(timer.purpose); break;
  }
}

void RunController::on_timer_of_attempt(TimerPurpose purpose) {
  if (purpose == TimerPurpose::echo) {
    if (auto echo = attempt_.take_echo()) {
      HEADWAY_MARK(echo_believed);
      fail_attempt(std::move(*echo));
    }
  } else if (purpose == TimerPurpose::exit && !attempt_.gone()) {
    HEADWAY_MARK(exit_grace_over);
    out_.push(Warn{rank_list(group().alive()) + " had not exited " + seconds_text(exit_limit()) +
                   " after the training function had returned (a thread or an exit handler that does not end?) "
                   "and must be killed; the run's result stands"});
    end_group(EndMode::kill, "did not exit in time");
  } else if (purpose == TimerPurpose::restart && state_ == RunState::restarting && attempt_.gone()) {
    start_again();
  } else if (purpose == TimerPurpose::folder_sync) {
    upkeep_.folder_sync_is_due(out_);
  } else if (purpose == TimerPurpose::terminate && !attempt_.gone()) {
    HEADWAY_MARK(terminate_grace_over);
    end_group(EndMode::kill, end_.attempt_ends().back());
  } else if (purpose == TimerPurpose::preemption) {
    end_preempted_group();
  }
}

}  // namespace headway::control
