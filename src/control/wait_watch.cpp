#include "control/wait_watch.hpp"

#include <algorithm>

namespace headway::control {
namespace {

/// More than these are named, but not looked at: each look takes a moment of the process's time and
/// of the reader's.
constexpr std::size_t examined_max = 4;

/// Of the time between two looks. A process that polls for something uses less; one that imports
/// uses more, on a machine with work for many times its cores too.
constexpr double share_at_work = 0.05;

/// The headline of a failure says its attempt; what quotes it has said that.
std::string without_attempt(std::string_view reason, int attempt) {
  const std::string words = ", in attempt " + std::to_string(attempt);
  if (reason.ends_with(words)) reason.remove_suffix(words.size());
  return std::string(reason);
}

/// Whether the thread that called fit() is waited for, in code of the user's.
bool in_front_end(const Wait& wait) {
  return wait.kind == WaitKind::setup || wait.kind == WaitKind::callback || wait.kind == WaitKind::teardown;
}

template <class Holds>
std::vector<int> ranks_that(const WorkerGroup& group, const Holds& holds) {
  std::vector<int> ranks;
  for (const RankState& rank : group.ranks()) {
    if (holds(rank)) ranks.push_back(rank.plan.rank);
  }
  return ranks;
}

/// The checkpoint of the first pending report.
const PendingCheckpoint* first_checkpoint(const ReportPipeline& reports) {
  return reports.empty() || !reports.first().checkpoint ? nullptr : &*reports.first().checkpoint;
}

std::optional<Wait> wait_of_storage(const WorkerGroup& group, const ReportPipeline& reports) {
  const PendingCheckpoint* checkpoint = first_checkpoint(reports);
  if (checkpoint == nullptr) return std::nullopt;
  return Wait{WaitKind::storage, group.place_of_report(reports.first().index), checkpoint->since};
}

std::string words_of_storage(const ReportPipeline& reports) {
  const PendingCheckpoint* checkpoint = first_checkpoint(reports);
  if (checkpoint == nullptr) return "the run's folder is made";
  return checkpoint->name + (checkpoint->committing ? " is committed" : "'s directory is made");
}

}  // namespace

WaitWatch::WaitWatch(const RunSpec& spec)
    : asks_ranks_(spec.collectives),
      hangs_(spec.failure),
      collectives_(asks_ranks_ ? hangs_.first_limit() : std::nullopt) {}

std::optional<Wait> WaitWatch::current(const RunScene& scene) const {
  const Attempt& attempt = scene.attempt;
  switch (scene.state) {
    case RunState::preparing: return Wait{WaitKind::storage, -1, scene.started};
    case RunState::starting:
      if (attempt.hook_since()) return Wait{WaitKind::setup, attempt.number(), *attempt.hook_since()};
      return Wait{WaitKind::ready, attempt.number(), attempt.begun_at()};
    case RunState::running: return of_reports(scene);
    case RunState::shutting_down:
    case RunState::restarting:
      if (!attempt.gone() && attempt.ending_since())
        return Wait{WaitKind::exit, attempt.number(), *attempt.ending_since()};
      if (!attempt.gone() && attempt.hook_since())
        return Wait{WaitKind::teardown, attempt.number(), *attempt.hook_since()};
      return wait_of_storage(attempt.group(), scene.reports);
    case RunState::created:
    case RunState::scheduling:
    case RunState::validating:
    case RunState::closing:
    case RunState::finished:
    case RunState::failed:
    case RunState::aborted: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Wait> WaitWatch::of_reports(const RunScene& scene) const {
  const Attempt& attempt = scene.attempt;
  const WorkerGroup& group = attempt.group();
  const ReportPipeline& reports = scene.reports;
  // Ranks went with a node that was to leave: why others wait is known, and the notice period is
  // the limit.
  if (scene.nodes.preemption().bereaved()) return std::nullopt;
  const bool all_returned = group.all_in(RankPhase::returned);
  if (scene.callbacks.any_unheard() && (scene.callbacks.held() || all_returned))
    return Wait{WaitKind::callback, attempt.number(), scene.callbacks.since()};
  if (!reports.open().empty())
    return Wait{WaitKind::report, group.place_of_report(reports.open().index()), reports.open_since()};
  if (!attempt.collectives().empty())
    return Wait{WaitKind::gathering, attempt.collectives().index(), attempt.collectives_since()};
  if (stuck()) return Wait{WaitKind::collective, stuck()->sequence, stuck()->since};
  if (const auto starving = scene.data.longest_starving())
    return Wait{WaitKind::data, starving->first, starving->second};
  const PendingCheckpoint* checkpoint = first_checkpoint(reports);
  if (checkpoint == nullptr) return std::nullopt;
  // What is stored beside the training is waited for only where a rank cannot go on, or when all
  // have finished.
  const bool held_up = !reports.pending().back().answered || all_returned;
  if (!held_up) return std::nullopt;
  if (checkpoint->uploading.empty()) return wait_of_storage(group, reports);
  return Wait{WaitKind::upload, group.place_of_report(reports.first().index), checkpoint->since};
}

WaitScene WaitWatch::describe(const RunScene& scene, const Wait& wait, Time now) const {
  const WorkerGroup& group = scene.attempt.group();
  const auto returned = [&](int rank) { return group.at(rank).phase == RankPhase::returned; };
  WaitScene told;
  told.wait = wait;
  told.attempt = scene.attempt.number();
  switch (wait.kind) {
    case WaitKind::storage: told.subject = words_of_storage(scene.reports); break;
    case WaitKind::ready:
      told.awaited = ranks_that(group, [](const RankState& rank) { return rank.phase == RankPhase::starting; });
      break;
    case WaitKind::callback: told.waiting = ranks_that(group, [](const RankState& rank) { return !rank.gone; }); break;
    case WaitKind::setup:
    case WaitKind::teardown:
      told.awaited = ranks_that(group, [](const RankState& rank) { return rank.open_calls > 0; });
      break;
    case WaitKind::report:
      told.waiting = scene.reports.open().waiting_ranks();
      told.awaited = ranks_that(group, [&](const RankState& rank) {
        return !std::binary_search(told.waiting.begin(), told.waiting.end(), rank.plan.rank);
      });
      told.crossed = collectives_.crossed(told.awaited, told.waiting);
      break;
    case WaitKind::gathering:
      told.waiting = scene.attempt.collectives().waiting_ranks();
      told.subject = scene.attempt.collectives().call_of(told.waiting.front()).kind;
      told.awaited = ranks_that(group, [](const RankState& rank) { return rank.phase != RankPhase::gathering; });
      break;
    case WaitKind::upload: {
      const PendingCheckpoint& checkpoint = *first_checkpoint(scene.reports);
      told.subject = checkpoint.name;
      told.awaited.assign(checkpoint.uploading.begin(), checkpoint.uploading.end());
      told.waiting = ranks_that(group, [](const RankState& rank) { return rank.phase == RankPhase::reporting; });
      break;
    }
    case WaitKind::exit:
      told.subject = without_attempt(scene.attempt_end, scene.attempt.number());
      told.awaited = group.alive();
      told.leased = !told.awaited.empty() &&
                    std::ranges::all_of(told.awaited, [&](int rank) { return scene.nodes.lost(group.at(rank)); });
      break;
    case WaitKind::data: told.waiting = scene.data.starving(); break;
    case WaitKind::collective:
      told.awaited = stuck()->awaited;
      told.waiting = stuck()->waiting;
      told.subject = std::all_of(told.awaited.begin(), told.awaited.end(), returned) ? unmatched_collective(*stuck())
                                                                                     : stuck()->sentence;
      break;
  }
  told.data = scene.data.words(wait.kind == WaitKind::data ? told.waiting : told.awaited, now);
  told.positions = collectives_.describe_positions(now);
  return told;
}

std::vector<int> WaitWatch::returned_without_entering(const Attempt& attempt) const {
  constexpr int looks_min = 2;
  if (!stuck() || stuck()->looks < looks_min) return {};
  std::vector<int> ranks = stuck()->absent;
  std::erase_if(ranks, [&](int rank) { return attempt.group().at(rank).phase != RankPhase::returned; });
  return ranks;
}

void WaitWatch::watch(const RunScene& scene, bool quiet, Outbox& out) {
  if (!hangs_.on() || is_over(scene.state)) return;
  watch_collectives(scene, out);
  const std::optional<Wait> wait = current(scene);
  const HangWatch::Verdict verdict = hangs_.observe(out.now(), wait);
  if (verdict.resolved && !quiet) out.push(Notify{describe_resolved(*verdict.resolved)});
  if (verdict.wake_at) out.reset_timer({TimerPurpose::hang}, *verdict.wake_at);
  if (verdict.examine) examine(scene, *verdict.examine, *wait, out);
}

void WaitWatch::examine(const RunScene& scene, std::int64_t examination, const Wait& wait, Outbox& out) {
  const Attempt& attempt = scene.attempt;
  ExamineRanks order{attempt.number(), examination, describe(scene, wait, out.now()).awaited, in_front_end(wait)};
  // A rank that has finished sits in our own code: there is nothing to see.
  const auto returned = [&](int rank) { return attempt.group().at(rank).phase == RankPhase::returned; };
  if (wait.kind == WaitKind::collective) std::erase_if(order.ranks, returned);
  // Out of reach.
  std::erase_if(order.ranks, [&](int rank) { return scene.nodes.lost(attempt.group().at(rank)); });
  if (order.ranks.size() > examined_max) order.ranks.resize(examined_max);
  // The answers are there long before the stacks are.
  if (asks_ranks_ && (wait.kind == WaitKind::report || wait.kind == WaitKind::gathering))
    out.push(LookAtCollectives{attempt.number(), collectives_.look_now()});
  out.push(std::move(order));
}

void WaitWatch::watch_collectives(const RunScene& scene, Outbox& out) {
  const ReportPipeline& reports = scene.reports;
  const bool idle = scene.state == RunState::running && reports.open().empty() && scene.attempt.collectives().empty() &&
                    (reports.empty() || reports.pending().back().answered);
  const CollectiveWatch::Step step = collectives_.advance(out.now(), idle, hangs_.examining());
  if (step.look) out.push(LookAtCollectives{scene.attempt.number(), *step.look});
  if (step.wake_at) out.reset_timer({TimerPurpose::look}, *step.wake_at);
}

WaitWatch::Verdict WaitWatch::examined(const RunScene& scene, const RanksExamined& event, Time now) {
  const std::optional<Wait> wait = current(scene);
  const bool busy = wait && event.attempt == scene.attempt.number() && starts_at_work(*wait, event, now);
  const HangWatch::Outcome outcome = hangs_.examined(now, event.examination, busy);
  if (outcome == HangWatch::Outcome::stale || outcome == HangWatch::Outcome::busy ||
      event.attempt != scene.attempt.number() || !wait)
    return {};
  Verdict verdict{outcome, describe(scene, *wait, now), in_front_end(*wait)};
  verdict.scene.busy = busy;
  for (const auto& [rank, process] : event.processes) {
    if (busy && verdict.scene.importing.empty()) verdict.scene.importing = process.importing;
  }
  return verdict;
}

bool WaitWatch::starts_at_work(const Wait& wait, const RanksExamined& event, Time now) {
  if (wait.kind != WaitKind::ready || event.processes.empty()) return false;
  bool all = true;
  for (const auto& [rank, process] : event.processes) {
    const Look last = looks_[rank];
    const bool known = last.attempt == event.attempt;
    // A factory has forked the rank, or another has taken its place.
    const bool started = known && last.pid != process.pid;
    const double used_s = process.cpu_s - (known && !started ? last.cpu_s : 0);
    const double passed_s = to_seconds(now - (known ? last.at : wait.since));
    all = all && process.pid != 0 && (started || used_s >= share_at_work * passed_s);
    looks_[rank] = {event.attempt, process.pid, process.cpu_s, now};
  }
  return all;
}

}  // namespace headway::control
