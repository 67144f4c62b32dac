#include "control/hang_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>

/// What the run waits for at any moment, and what is done when that takes long.
namespace headway::control {

namespace {

/// More than these are named, but not looked at: each look takes a moment of the process's time and of the reader's.
constexpr std::size_t examined_max = 4;

/// The headline of a failure says its attempt; what quotes it has said that.
std::string without_attempt(std::string reason, int attempt) {
  const std::string words = ", in attempt " + std::to_string(attempt);
  if (reason.ends_with(words)) reason.resize(reason.size() - words.size());
  return reason;
}

/// Whether the thread that called fit() is waited for, in code of the user's.
bool in_front_end(const Wait& wait) {
  return wait.kind == WaitKind::setup || wait.kind == WaitKind::callback || wait.kind == WaitKind::teardown;
}

}  // namespace

/// Called after every event, so it does no more than look at a few fields.
std::optional<Wait> RunController::current_wait() const {
  switch (state_) {
    case RunState::preparing: return Wait{WaitKind::storage, -1, started_};
    case RunState::starting:
      if (hook_since_) return Wait{WaitKind::setup, attempt_, *hook_since_};
      return Wait{WaitKind::ready, attempt_, attempt_started_};
    case RunState::running: return wait_of_reports();
    case RunState::shutting_down:
    case RunState::restarting:
      if (!group_gone_ && ending_since_) return Wait{WaitKind::exit, attempt_, *ending_since_};
      if (!group_gone_ && hook_since_) return Wait{WaitKind::teardown, attempt_, *hook_since_};
      return wait_of_storage();
    case RunState::created:
    case RunState::scheduling:
    case RunState::validating:
    case RunState::closing:
    case RunState::over: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Wait> RunController::wait_of_reports() const {
  if (preemption_.bereaved()) return std::nullopt;  // Why is known, and the grace is the limit.
  if (callbacks_awaited()) return Wait{WaitKind::callback, attempt_, callbacks_since_};
  if (!barrier_.empty()) return Wait{WaitKind::report, barrier_.index(), barrier_since_};
  if (!collectives_.empty()) return Wait{WaitKind::gathering, collectives_.index(), collectives_since_};
  if (const auto& stuck = collective_watch_.stuck()) return Wait{WaitKind::collective, stuck->sequence, stuck->since};
  if (pending_.empty() || !pending_.front().checkpoint) return std::nullopt;
  // What is stored beside the training is waited for only where a rank cannot go on, or when all have finished.
  const bool held_up = !pending_.back().answered || group_.all_in(RankPhase::returned);
  if (!held_up) return std::nullopt;
  if (pending_.front().checkpoint->uploading.empty()) return wait_of_storage();
  return Wait{WaitKind::upload, pending_.front().index, pending_.front().checkpoint->since};
}

std::optional<Wait> RunController::wait_of_storage() const {
  if (pending_.empty() || !pending_.front().checkpoint) return std::nullopt;
  return Wait{WaitKind::storage, pending_.front().index, pending_.front().checkpoint->since};
}

WaitScene RunController::scene_of(const Wait& wait) const {
  const auto returned = [this](int rank) { return group_.at(rank).phase == RankPhase::returned; };
  WaitScene scene{wait, attempt_, {}, {}, "", ""};
  const auto ranks_that = [this](const auto& holds) {
    std::vector<int> ranks;
    for (const RankState& rank : group_.ranks()) {
      if (holds(rank)) ranks.push_back(rank.plan.rank);
    }
    return ranks;
  };
  switch (wait.kind) {
    case WaitKind::storage:
      scene.subject = pending_.empty() || !pending_.front().checkpoint ? "the run's folder is made"
                      : pending_.front().checkpoint->committing
                          ? pending_.front().checkpoint->name + " is committed"
                          : pending_.front().checkpoint->name + "'s directory is made";
      break;
    case WaitKind::ready:
      scene.awaited = ranks_that([](const RankState& rank) { return rank.phase == RankPhase::starting; });
      break;
    case WaitKind::callback: scene.waiting = ranks_that([](const RankState& rank) { return !rank.gone; }); break;
    case WaitKind::setup:
    case WaitKind::teardown:
      scene.awaited = ranks_that([](const RankState& rank) { return rank.open_calls > 0; });
      break;
    case WaitKind::report:
      scene.waiting = barrier_.waiting_ranks();
      scene.awaited = ranks_that([&](const RankState& rank) {
        return !std::binary_search(scene.waiting.begin(), scene.waiting.end(), rank.plan.rank);
      });
      break;
    case WaitKind::gathering:
      scene.subject = collectives_.call_of(collectives_.waiting_ranks().front()).kind;
      scene.waiting = collectives_.waiting_ranks();
      scene.awaited = ranks_that([](const RankState& rank) { return rank.phase != RankPhase::gathering; });
      break;
    case WaitKind::upload: {
      const PendingCheckpoint& checkpoint = *pending_.front().checkpoint;
      scene.subject = checkpoint.name;
      scene.awaited.assign(checkpoint.uploading.begin(), checkpoint.uploading.end());
      scene.waiting = ranks_that([](const RankState& rank) { return rank.phase == RankPhase::reporting; });
      break;
    }
    case WaitKind::exit:
      scene.subject = attempt_ends_.empty() ? "" : without_attempt(attempt_ends_.back(), attempt_);
      scene.awaited = group_.alive();
      break;
    case WaitKind::collective:
      scene.awaited = collective_watch_.stuck()->awaited;
      scene.waiting = collective_watch_.stuck()->waiting;
      scene.subject = std::all_of(scene.awaited.begin(), scene.awaited.end(), returned)
                          ? unmatched_collective(*collective_watch_.stuck())
                          : collective_watch_.stuck()->sentence;
      break;
  }
  scene.positions = collective_watch_.describe_positions(now_);
  return scene;
}

/// The last thing that every event does.
void RunController::watch_hangs() {
  if (!hang_watch_.on() || state_ == RunState::over) return;
  watch_collectives();
  const std::optional<Wait> wait = current_wait();
  const HangWatch::Verdict verdict = hang_watch_.observe(now_, wait);
  const bool told_otherwise = failure_ || abort_reason_;
  if (verdict.resolved && !told_otherwise) out_.push_back(Notify{describe_resolved(*verdict.resolved)});
  if (verdict.wake_at) {
    hang_timer_ = timers_set_++;
    out_.push_back(SetTimer{*hang_timer_, *verdict.wake_at});
  }
  if (verdict.examine) examine(*verdict.examine, *wait);
}

void RunController::examine(std::int64_t examination, const Wait& wait) {
  ExamineRanks order{attempt_, examination, scene_of(wait).awaited, false};
  // A rank that has finished sits in our own code: there is nothing to see.
  const auto returned = [this](int rank) { return group_.at(rank).phase == RankPhase::returned; };
  if (wait.kind == WaitKind::collective) std::erase_if(order.ranks, returned);
  if (order.ranks.size() > examined_max) order.ranks.resize(examined_max);
  order.hook = in_front_end(wait);
  // The answers are there long before the stacks are.
  if (spec_.collectives && (wait.kind == WaitKind::report || wait.kind == WaitKind::gathering))
    out_.push_back(LookAtCollectives{attempt_, collective_watch_.look_now()});
  out_.push_back(std::move(order));
}

void RunController::watch_collectives() {
  const bool idle = state_ == RunState::running && barrier_.empty() && collectives_.empty() &&
                    (pending_.empty() || pending_.back().answered);
  const CollectiveWatch::Step step = collective_watch_.advance(now_, idle, hang_watch_.examining());
  if (step.look) out_.push_back(LookAtCollectives{attempt_, *step.look});
  if (!step.wake_at) return;
  look_timer_ = timers_set_++;
  out_.push_back(SetTimer{*look_timer_, *step.wake_at});
}

void RunController::on(const CollectivesSeen& event) {
  if (current(event.attempt, event.rank)) collective_watch_.seen(now_, event.rank, event.look, event.positions);
}

void RunController::on(const RanksCalled& event) {
  if (event.attempt != attempt_) return;
  for (int rank : event.ranks) {
    if (group_.valid(rank)) ++group_.at(rank).open_calls;
  }
}

void RunController::on(const CallAnswered& event) {
  if (!current(event.attempt, event.rank)) return;
  --group_.at(event.rank).open_calls;
}

void RunController::on(const RanksExamined& event) {
  const std::optional<Wait> wait = current_wait();
  const HangWatch::Outcome outcome = hang_watch_.examined(now_, event.examination);
  if (outcome == HangWatch::Outcome::stale || event.attempt != attempt_ || !wait) return;
  const WaitScene scene = scene_of(*wait);
  if (outcome == HangWatch::Outcome::warn) {
    out_.push_back(Warn{describe_hang(group_, scene, event, now_), true});
    return;
  }
  const bool in_hook = in_front_end(*wait);
  if (at_work()) {
    HEADWAY_MARK(hang_ends_the_attempt);
    fail_attempt(describe_hang_failure(group_, scene, event, *spec_.failure.hang_fail_s, now_));
  } else if (in_hook) {
    HEADWAY_MARK(hang_in_teardown);
    out_.push_back(
        Warn{describe_hang(group_, scene, event, now_) + "The workers are ended; the run's result stands.\n", true});
    on(TeardownFinished{attempt_});
  }
  if (in_hook) out_.push_back(InterruptHook{attempt_, hang_headline(scene, now_)});
}

}  // namespace headway::control
