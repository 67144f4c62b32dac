#include "dashboard/step_map.hpp"

#include <algorithm>

namespace headway::dashboard {
namespace {

using driver::RankSteps;

/// Two moments of one attempt.
struct Interval {
  double from = 0;
  double to = 0;
  const std::vector<RankSteps>* before = nullptr;  ///< Null: the attempt's beginning.
  const std::vector<RankSteps>* after = nullptr;
};

RankSteps of_rank(const std::vector<RankSteps>* ranks, int rank) {
  if (ranks == nullptr) return {};
  const auto found = std::ranges::find(*ranks, rank, &RankSteps::rank);
  return found == ranks->end() ? RankSteps{} : *found;
}

std::vector<Interval> intervals_of(const RunRecord& record) {
  std::vector<Interval> intervals;
  const StepSample* before = nullptr;
  for (const StepSample& sample : record.steps()) {
    Interval interval{sample.at_unix_s, sample.at_unix_s, nullptr, &sample.ranks};
    if (before != nullptr && before->attempt == sample.attempt) {
      interval.from = before->at_unix_s;
      interval.before = &before->ranks;
    } else {
      for (const AttemptRecord& attempt : record.attempts()) {
        if (attempt.number == sample.attempt && attempt.start_s <= sample.at_unix_s) interval.from = attempt.start_s;
      }
    }
    if (interval.to > interval.from) intervals.push_back(interval);
    before = &sample;
  }
  return intervals;
}

/// The share of the ranks' time that they waited for data in an interval.
std::optional<double> data_share(const RunRecord& record, double from, double to) {
  const DataSample* before = nullptr;
  const DataSample* after = nullptr;
  for (const DataSample& sample : record.data()) {
    if (sample.at_unix_s <= from) before = &sample;
    if (sample.at_unix_s > from && (after == nullptr || sample.at_unix_s <= to)) after = &sample;
  }
  if (after == nullptr) return std::nullopt;
  const double elapsed = after->elapsed_s - (before != nullptr ? before->elapsed_s : 0);
  const double waiting = after->waiting_s - (before != nullptr ? before->waiting_s : 0);
  if (elapsed <= 0) return std::nullopt;
  return std::clamp(waiting / elapsed, 0.0, 1.0);
}

StepSplit split_of(const RunRecord& record, const Interval& interval) {
  StepSplit split;
  split.x = interval.to;
  split.from = interval.from;
  double total = 0;
  double report = 0;
  double checkpoint = 0;
  double waited = 0;
  bool knows_waits = true;
  double forward = 0;
  double backward = 0;
  bool knows_passes = true;
  for (const RankSteps& now : *interval.after) {
    const RankSteps then = of_rank(interval.before, now.rank);
    total += now.total_s - then.total_s;
    report += now.report_s - then.report_s;
    checkpoint += now.checkpoint_s - then.checkpoint_s;
    waited += now.waited_s.value_or(0) - then.waited_s.value_or(0);
    knows_waits = knows_waits && now.waited_s.has_value();
    forward += now.forward_s.value_or(0) - then.forward_s.value_or(0);
    backward += now.backward_s.value_or(0) - then.backward_s.value_or(0);
    knows_passes = knows_passes && now.forward_s && now.backward_s;
  }
  const double ranks = static_cast<double>(interval.after->size());
  split.report = std::max(0.0, report / ranks);
  split.checkpoint = std::max(0.0, checkpoint / ranks);
  if (const auto share = data_share(record, interval.from, interval.to)) split.data = *share * total / ranks;
  // Where steps are counted, reports lie within them; else the times are those between reports.
  const bool within = !interval.after->front().of_reports;
  if (knows_waits) split.communication = std::max(0.0, (waited - report - checkpoint) / ranks);
  const double others =
      split.data.value_or(0) + split.communication.value_or(0) + (within ? *split.report + *split.checkpoint : 0);
  const double computing = std::max(0.0, total / ranks - others);
  if (knows_passes) {
    // They are measured now and then: together they are no more than there was.
    split.forward = std::clamp(forward / ranks, 0.0, computing);
    split.backward = std::clamp(backward / ranks, 0.0, computing - *split.forward);
  }
  split.compute = computing - split.forward.value_or(0) - split.backward.value_or(0);
  return split;
}

/// Neighbours become one, until there are no more than `points`.
void merge(std::vector<StepSplit>& splits, std::size_t points) {
  const auto add = [](std::optional<double>& to, const std::optional<double>& more) {
    if (more) to = to.value_or(0) + *more;
  };
  while (splits.size() > std::max<std::size_t>(1, points)) {
    std::size_t kept = 0;
    for (std::size_t place = 0; place < splits.size(); place += 2) {
      StepSplit joined = splits[place];
      if (place + 1 < splits.size()) {
        const StepSplit& next = splits[place + 1];
        joined.x = next.x;
        add(joined.data, next.data);
        add(joined.forward, next.forward);
        add(joined.backward, next.backward);
        add(joined.compute, next.compute);
        add(joined.communication, next.communication);
        add(joined.checkpoint, next.checkpoint);
        add(joined.report, next.report);
      }
      splits[kept++] = joined;
    }
    splits.resize(kept);
  }
}

void fill(StepMap& map, const Interval& interval, std::size_t points) {
  const double width = (*map.to_s - *map.from_s) / static_cast<double>(points);
  const auto bucket = [&](double at) {
    const double place = width > 0 ? (at - *map.from_s) / width : 0;
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(points - 1)));
  };
  for (const RankSteps& now : *interval.after) {
    const RankSteps then = of_rank(interval.before, now.rank);
    const auto count = now.count - then.count;
    const auto row = std::ranges::find(map.ranks, now.rank) - map.ranks.begin();
    if (count <= 0) continue;
    // Where all wait for one, their steps end together: what a rank did without waiting tells.
    const double waited_s = now.waited_s.value_or(0) - then.waited_s.value_or(0);
    const double seconds = std::max(0.0, now.total_s - then.total_s - waited_s) / static_cast<double>(count);
    for (std::size_t place = bucket(interval.from); place <= bucket(interval.to); ++place) {
      std::optional<double>& cell = map.cells[static_cast<std::size_t>(row)][place];
      // What was slow stays seen.
      cell = std::max(seconds, cell.value_or(seconds));
    }
  }
}

}  // namespace

StepMap step_map(const RunRecord& record, std::size_t points) {
  StepMap map;
  const std::vector<Interval> intervals = intervals_of(record);
  if (intervals.empty()) return map;
  if (!record.attempts().empty()) map.hosts = record.attempts().back().hosts;
  for (const Interval& interval : intervals) {
    for (const RankSteps& rank : *interval.after) map.ranks.push_back(rank.rank);
  }
  std::ranges::sort(map.ranks);
  const auto rest = std::ranges::unique(map.ranks);
  map.ranks.erase(rest.begin(), rest.end());
  map.from_s = intervals.front().from;
  map.to_s = intervals.back().to;
  points = std::max<std::size_t>(1, points);
  map.cells.assign(map.ranks.size(), std::vector<std::optional<double>>(points));
  for (const Interval& interval : intervals) {
    fill(map, interval, points);
    map.split.push_back(split_of(record, interval));
  }
  merge(map.split, points);
  return map;
}

}  // namespace headway::dashboard
