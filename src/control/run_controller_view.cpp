#include "control/hang_text.hpp"
#include "control/run_controller.hpp"
#include "core/location.hpp"

#include <algorithm>

/// The run as it looks from outside.
namespace headway::control {
namespace {

constexpr std::size_t ended_attempts_max = 20;

}  // namespace

RunView RunController::view(Time now) const {
  RunView view;
  view.name = spec_.run.name;
  view.storage_path = shown_location(spec_.run.storage_path);
  view.trial_id = spec_.trial_id;
  view.state = state_;
  if (state_ != RunState::created) {
    view.state_for_s = to_seconds(now - state_since_);
    view.time_total_s = to_seconds(ledger_.total(now));
  }
  view.attempt = attempt_.number();
  if (attempt_.of_this_driver() > 0) view.attempt_for_s = to_seconds(now - attempt_.begun_at());
  const std::vector<std::string>& ends = end_.attempt_ends();
  const std::size_t ended = ends.size();
  for (std::size_t i = ended - std::min(ended, ended_attempts_max); i < ended; ++i) {
    view.ended.push_back({static_cast<int>(i) + 1, ends[i]});
  }
  view.failures = policy_.count(FailureCause::group);
  view.start_failures = policy_.count(FailureCause::start);
  view.preemptions = policy_.count(FailureCause::preemption);
  view.workers = group().size();
  view.workers_min = size_.min();
  view.workers_max = size_.max();
  view.ranks = view_of_ranks(now);
  view.reports = view_of_reports(now);
  view.loop = loops_.view(now);
  view.checkpoints = book_.shared();
  view.pending = view_of_pending();
  view.validations = view_of_validations(now);
  view.wait = view_of_wait(now);
  const PreemptionWatch& preemption = nodes_.preemption();
  if (auto info = preemption.info(group())) view.preemption = PreemptionView{std::move(*info), preemption.bereaved()};
  view.failure = end_.failure() ? end_.failure() : attempt_.echo();
  view.stop_reason = end_.stop_reason();
  view.abort_reason = end_.abort_reason();
  view.folder_lost = end_.folder_lost();
  return view;
}

std::vector<RankView> RunController::view_of_ranks(Time now) const {
  std::string reporting;
  if (!reports_.open().empty()) {
    reporting = "other ranks to come to " + group().report_name(reports_.open().index());
  } else if (callbacks_.held()) {
    reporting = "callbacks to hear " + group().report_name(callbacks_.held()->index);
  } else if (!reports_.empty()) {
    const PendingReport& newest = reports_.pending().back();
    reporting = newest.checkpoint ? newest.checkpoint->name + " to be stored" : "earlier reports to be recorded";
  }
  std::string gathering;
  const CollectiveBarrier& collectives = attempt_.collectives();
  if (!collectives.empty()) {
    const std::string& kind = collectives.call_of(collectives.waiting_ranks().front()).kind;
    gathering = "other ranks to come to " + kind + "() #" + std::to_string(collectives.index() + 1);
  }
  const std::string ready = attempt_.hook_since() ? "the backend's set-up" : "other ranks to start";

  std::vector<RankView> ranks;
  ranks.reserve(group().ranks().size());
  for (const RankState& state : group().ranks()) {
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
    rank.steps = loops_.steps_of(state.plan.rank);
    if (const auto took = stragglers_.took(state.plan.rank)) rank.report_s = to_seconds(*took);
    if (state.gone || state.open_calls > 0) continue;
    if (state.phase == RankPhase::ready) rank.waits_for = ready;
    if (state.phase == RankPhase::reporting) rank.waits_for = reporting;
    if (state.phase == RankPhase::gathering) rank.waits_for = gathering;
  }
  if (const auto& stuck = waits_.stuck()) {
    for (const int rank : stuck->waiting) ranks.at(static_cast<std::size_t>(rank)).waits_for = stuck->name;
  }
  return ranks;
}

ReportsView RunController::view_of_reports(Time now) const {
  ReportsView reports;
  reports.count = ledger_.count();
  reports.in_attempt = ledger_.in_attempt();
  if (ledger_.last()) {
    reports.last = ledger_.last();
    reports.last_ago_s = to_seconds(now - ledger_.last_at());
  }
  if (!reports_.open().empty()) {
    reports.open = reports_.open().index();
    reports.open_ranks = static_cast<int>(reports_.open().waiting_ranks().size());
  }
  return reports;
}

std::vector<PendingView> RunController::view_of_pending() const {
  std::vector<PendingView> views;
  for (const PendingReport& report : reports_.pending()) {
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
  for (const ValidationQueue::Validation& each : validations_.queue().entries()) {
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
  const std::optional<Wait> wait = waits_.current(scene());
  if (!wait) return std::nullopt;
  WaitScene told = waits_.describe(scene(), *wait, now);
  return WaitView{wait->kind, wait_words(told), to_seconds(now - wait->since), std::move(told.awaited),
                  std::move(told.waiting)};
}

}  // namespace headway::control
