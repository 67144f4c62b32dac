#include "control/loop_watch.hpp"

#include <algorithm>

namespace headway::control {
namespace {

/// What `count` gained in a second, over what was heard in the last seconds.
template <class Heard, class Count>
std::optional<double> pace(const Heard& heard, Count count) {
  if (heard.empty()) return std::nullopt;
  const LoopProgress& last = heard.back();
  const double seconds = last.at_s - (heard.size() > 1 ? heard.front().at_s : 0);
  const double gained = static_cast<double>(count(last) - (heard.size() > 1 ? count(heard.front()) : 0));
  if (seconds <= 0 || gained <= 0) return std::nullopt;
  return gained / seconds;
}

}  // namespace

void LoopWatch::begin(int ranks, Time now) {
  *this = {};
  ranks_.resize(static_cast<std::size_t>(ranks));
  written_at_ = now;
}

void LoopWatch::progressed(int rank, const LoopProgress& progress, Time now) {
  std::deque<LoopProgress>& heard = ranks_.at(static_cast<std::size_t>(rank)).heard;
  heard.push_back(progress);
  const double oldest = progress.at_s - to_seconds(pace_of);
  while (heard.size() > 2 && (heard.size() > heard_max || heard[1].at_s < oldest)) heard.pop_front();
  if (rank == 0) heard_at_ = now;
}

void LoopWatch::reported(int rank, Duration took) {
  Rank& reporting = ranks_.at(static_cast<std::size_t>(rank));
  if (reporting.reports++ > 0) reporting.report_times.add(took);
}

std::optional<double> LoopWatch::samples_per_s() const {
  double all = 0;
  for (const Rank& rank : ranks_) {
    if (rank.heard.empty() || !rank.heard.back().samples) return std::nullopt;
    const auto own = pace(rank.heard, [](const LoopProgress& each) { return each.samples.value_or(0); });
    if (!own) return std::nullopt;
    all += *own;
  }
  return all;
}

std::optional<LoopView> LoopWatch::view(Time now) const {
  if (ranks_.empty() || ranks_.front().heard.empty()) return std::nullopt;
  const std::deque<LoopProgress>& heard = ranks_.front().heard;
  const LoopProgress& last = heard.back();
  LoopView view;
  view.steps = last.steps;
  view.heard_ago_s = to_seconds(now - heard_at_);
  // The first step is where the time begins.
  view.steps_per_s = pace(heard, [](const LoopProgress& each) { return std::max<std::int64_t>(each.steps - 1, 0); });
  view.samples_per_s = samples_per_s();
  view.epoch = last.epoch;
  const auto batches_per_s = pace(heard, [](const LoopProgress& each) { return each.batches; });
  if (last.epoch && last.epoch->batches && batches_per_s) {
    const std::int64_t left = *last.epoch->batches - last.epoch->batch;
    if (left > 0) view.epoch_left_s = static_cast<double>(left) / *batches_per_s;
  }
  return view;
}

std::optional<StepView> LoopWatch::steps_of(int rank) const {
  if (at(rank).heard.empty()) return std::nullopt;
  const LoopProgress& last = at(rank).heard.back();
  if (last.step_times.count == 0) return std::nullopt;
  return StepView{last.steps, last.step_times.median_s, waiting_share(last)};
}

std::optional<AttemptTimes> LoopWatch::take_times(int attempt, const WorkerGroup& group, Time now, bool always) {
  if (!always && now - written_at_ < times_each) return std::nullopt;
  AttemptTimes times{attempt, {}};
  bool any = false;
  for (const RankState& state : group.ranks()) {
    RankTimes& each = times.ranks.emplace_back();
    each.rank = state.plan.rank;
    each.hostname = state.plan.slot.hostname;
    const Rank& rank = at(state.plan.rank);
    if (rank.report_times.count() > 0) each.reports = times_of(rank.report_times);
    if (!rank.heard.empty() && rank.heard.back().step_times.count > 0) {
      each.steps = rank.heard.back().step_times;
      each.waiting_share = waiting_share(rank.heard.back());
      each.forward_s = rank.heard.back().forward_s;
      each.backward_s = rank.heard.back().backward_s;
    }
    any = any || each.reports || each.steps;
  }
  if (!any) return std::nullopt;
  written_at_ = now;
  return times;
}

std::optional<double> waiting_share(const LoopProgress& progress) {
  if (!progress.sees_collectives || progress.step_times.total_s <= 0) return std::nullopt;
  return std::clamp(progress.waited_s / progress.step_times.total_s, 0.0, 1.0);
}

}  // namespace headway::control
