#include "control/data_watch.hpp"

#include "core/rank_words.hpp"

#include <algorithm>

namespace headway::control {

void DataWatch::begin() {
  for (auto& [name, dataset] : datasets_) {
    dataset.before = all_of(dataset);
    dataset.ranks.clear();
  }
  starving_.clear();
}

void DataWatch::told(int rank, const DataProgress& progress, Time now) {
  if (progress.starving_s) {
    const auto [found, is_first] = starving_.try_emplace(rank);
    Starving& starving = found->second;
    if (is_first || starving.progress.dataset != progress.dataset)
      starving.since = now - from_seconds(*progress.starving_s);
    starving.told = now;
    starving.progress = progress;
    return;
  }
  const auto found = starving_.find(rank);
  if (found != starving_.end() && found->second.progress.dataset == progress.dataset) starving_.erase(found);
  datasets_[progress.dataset].ranks[rank] = progress;
  is_new_ = true;
}

std::optional<std::pair<int, Time>> DataWatch::longest_starving() const {
  const std::vector<int> ranks = starving();
  if (ranks.empty()) return std::nullopt;
  return std::pair(ranks.front(), starving_.at(ranks.front()).since);
}

std::vector<int> DataWatch::starving() const {
  std::vector<int> ranks;
  for (const auto& [rank, starving] : starving_) ranks.push_back(rank);
  std::ranges::stable_sort(ranks, {}, [this](int rank) { return starving_.at(rank).since; });
  return ranks;
}

std::vector<std::string> DataWatch::words(const std::vector<int>& ranks, Time now) const {
  struct Group {
    std::string reason;  ///< Without times, which differ by when each rank was heard.
    std::string words;
    std::vector<int> ranks;
  };
  std::vector<Group> groups;
  for (const int rank : ranks) {
    const auto found = starving_.find(rank);
    if (found == starving_.end()) continue;
    FlowCounters flow = found->second.progress.flow;
    const double since_told_s = to_seconds(now - found->second.told);
    for (StageCounters& stage : flow.stages) stage.silent_s += since_told_s;
    flow.awaited_for_s += since_told_s;
    std::string words = data::starving_words(flow);
    for (StageCounters& stage : flow.stages) stage.silent_s = 0;
    flow.awaited_for_s = 0;
    const std::string reason = data::starving_words(flow);
    auto group = std::ranges::find(groups, reason, &Group::reason);
    if (group == groups.end()) group = groups.insert(group, {reason, std::move(words), {}});
    group->ranks.push_back(rank);
  }
  std::vector<std::string> lines;
  for (Group& group : groups) {
    std::ranges::sort(group.ranks);
    lines.push_back(rank_list(group.ranks) + (group.ranks.size() == 1 ? " waits" : " wait") + " for data" +
                    (group.words.empty() ? "" : ": " + group.words));
  }
  return lines;
}

DatasetTimes DataWatch::all_of(const Dataset& dataset) {
  DatasetTimes all = dataset.before;
  const DataProgress* most = nullptr;
  for (const auto& [rank, progress] : dataset.ranks) {
    all.ranks.waiting_s += progress.waits.waiting_s;
    all.ranks.elapsed_s += progress.waits.elapsed_s;
    if (most == nullptr || progress.waits.waiting_s > most->waits.waiting_s) most = &progress;
  }
  if (most == nullptr) return all;
  data::add_stages(all.stages, most->flow.stages);
  all.budget_bytes = most->flow.budget_bytes;
  all.held_bytes = most->flow.held_bytes;
  all.held_bytes_max = std::max(all.held_bytes_max.value_or(0), most->flow.held_bytes_max);
  return all;
}

std::optional<DataTimes> DataWatch::times() const {
  DataTimes times;
  double longest_s = -1;
  for (const auto& [name, dataset] : datasets_) {
    const DatasetTimes all = times.datasets[name] = all_of(dataset);
    if (!(all.ranks.elapsed_s > 0) || all.ranks.waiting_s <= longest_s) continue;
    longest_s = all.ranks.waiting_s;
    times.dataset = name;
    times.verdict = data::verdict_of(all.stages, all.ranks);
  }
  if (!times.dataset) return std::nullopt;
  return times;
}

std::optional<DataTimes> DataWatch::take_times(Time now, bool always) {
  if (!written_at_) written_at_ = now;
  if (!is_new_ || (!always && now - *written_at_ < times_each)) return std::nullopt;
  is_new_ = false;
  written_at_ = now;
  return times();
}

std::string DataWatch::verdict_words() const {
  const std::optional<DataTimes> all = times();
  if (!all) return "";
  const Dataset& judged = datasets_.at(*all->dataset);
  const auto ranks = static_cast<double>(std::max<std::size_t>(judged.ranks.size(), 1));
  if (all->datasets.at(*all->dataset).ranks.elapsed_s < judged_min_s * ranks) return "";
  return data::verdict_line(all->verdict);
}

}  // namespace headway::control
