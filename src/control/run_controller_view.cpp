#include "control/hang_text.hpp"
#include "control/run_controller.hpp"
#include "core/location.hpp"

#include <algorithm>

/// The run as it looks from outside.
namespace headway::control {
namespace {

constexpr std::size_t ended_attempts_max = 20;

std::string ordinal(std::int64_t index) { return "#" + std::to_string(index + 1); }

}  // namespace

RunView RunController::view(Time now) const {
  RunView view;
  view.name = spec_.run.name;
  view.storage_path = shown_location(spec_.run.storage_path);
  view.trial_id = spec_.trial_id;
  view.state = state_;
  if (state_ != RunState::created) {
    view.state_for_s = to_seconds(now - state_since_);
    view.time_total_s = to_seconds(earlier_ + (now - started_));
  }
  view.attempt = attempt_;
  if (attempt_ > attempts_before_) view.attempt_for_s = to_seconds(now - attempt_started_);
  const std::size_t ended = attempt_ends_.size();
  for (std::size_t i = ended - std::min(ended, ended_attempts_max); i < ended; ++i) {
    view.ended.push_back({static_cast<int>(i) + 1, attempt_ends_[i]});
  }
  view.failures = policy_.count(FailureCause::group);
  view.start_failures = policy_.count(FailureCause::start);
  view.preemptions = policy_.count(FailureCause::preemption);
  view.workers = group_.size();
  view.workers_min = group_size_min(spec_);
  view.workers_max = group_size(spec_);
  view.ranks = view_of_ranks(now);
  view.reports = view_of_reports(now);
  view.checkpoints = book_.shared();
  view.pending = view_of_pending();
  view.validations = view_of_validations(now);
  view.wait = view_of_wait(now);
  if (auto info = preemption_.info(group_)) view.preemption = PreemptionView{std::move(*info), preemption_.bereaved()};
  view.failure = failure_ ? failure_ : echo_;
  view.stop_reason = stop_reason_;
  view.abort_reason = abort_reason_;
  view.folder_lost = lost_;
  return view;
}

std::vector<RankView> RunController::view_of_ranks(Time now) const {
  std::string reporting;
  if (!barrier_.empty()) {
    reporting = "other ranks to come to report " + ordinal(barrier_.index());
  } else if (held_) {
    reporting = "callbacks to hear report " + ordinal(held_->index);
  } else if (!pending_.empty()) {
    const PendingReport& newest = pending_.back();
    reporting = newest.checkpoint ? newest.checkpoint->name + " to be stored" : "earlier reports to be recorded";
  }
  std::string gathering;
  if (!collectives_.empty()) {
    const std::string& kind = collectives_.call_of(collectives_.waiting_ranks().front()).kind;
    gathering = "other ranks to come to " + kind + "() " + ordinal(collectives_.index());
  }
  const std::string ready = hook_since_ ? "the backend's set-up" : "other ranks to start";

  std::vector<RankView> ranks;
  ranks.reserve(group_.ranks().size());
  for (const RankState& state : group_.ranks()) {
    RankView& rank = ranks.emplace_back();
    rank.rank = state.plan.rank;
    rank.local_rank = state.plan.local_rank;
    rank.node_id = state.plan.slot.node_id;
    rank.hostname = state.plan.slot.hostname;
    if (state.pid != 0) rank.pid = state.pid;
    rank.phase = state.phase;
    rank.phase_for_s = to_seconds(now - state.since);
    rank.gone = state.gone;
    rank.reports = state.reports;
    if (state.gone || state.open_calls > 0) continue;
    if (state.phase == RankPhase::ready) rank.waits_for = ready;
    if (state.phase == RankPhase::reporting) rank.waits_for = reporting;
    if (state.phase == RankPhase::gathering) rank.waits_for = gathering;
  }
  if (const auto& stuck = collective_watch_.stuck()) {
    for (const int rank : stuck->waiting) ranks.at(static_cast<std::size_t>(rank)).waits_for = stuck->name;
  }
  return ranks;
}

ReportsView RunController::view_of_reports(Time now) const {
  ReportsView reports;
  reports.count = iteration_;
  reports.in_attempt = attempt_iterations_;
  if (last_line_) {
    reports.last = last_line_;
    reports.last_ago_s = to_seconds(now - last_report_);
  }
  if (!barrier_.empty()) {
    reports.open = barrier_.index();
    reports.open_ranks = static_cast<int>(barrier_.waiting_ranks().size());
  }
  return reports;
}

std::vector<PendingView> RunController::view_of_pending() const {
  std::vector<PendingView> views;
  for (const PendingReport& report : pending_) {
    PendingView& view = views.emplace_back();
    view.index = report.index;
    view.answered = report.answered;
    if (!report.checkpoint) continue;
    const PendingCheckpoint& checkpoint = *report.checkpoint;
    view.checkpoint = checkpoint.name;
    view.asynchronous = checkpoint.asynchronous;
    view.uploading.assign(checkpoint.uploading.begin(), checkpoint.uploading.end());
    view.stage = checkpoint.committing           ? PendingStage::committing
                 : !checkpoint.begun             ? PendingStage::beginning
                 : !checkpoint.uploading.empty() ? PendingStage::uploading
                                                 : PendingStage::uploaded;
  }
  return views;
}

std::vector<ValidationView> RunController::view_of_validations(Time now) const {
  std::vector<ValidationView> views;
  for (const ValidationQueue::Validation& each : validations_.entries()) {
    ValidationView& view = views.emplace_back();
    view.checkpoint = each.checkpoint;
    view.report = each.report;
    view.deaths = each.deaths;
    view.stage = each.ending        ? ValidationStage::ending
                 : each.number == 0 ? ValidationStage::waiting
                 : each.since       ? ValidationStage::running
                                    : ValidationStage::starting;
    if (each.since) view.running_for_s = to_seconds(now - *each.since);
  }
  return views;
}

std::optional<WaitView> RunController::view_of_wait(Time now) const {
  const std::optional<Wait> wait = current_wait();
  if (!wait) return std::nullopt;
  WaitScene scene = scene_of(*wait);
  return WaitView{wait->kind, hang_headline(scene, now), to_seconds(now - wait->since), std::move(scene.awaited),
                  std::move(scene.waiting)};
}

}  // namespace headway::control
