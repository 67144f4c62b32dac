#include "data/verdict.hpp"

#include "core/rank_words.hpp"

#include <algorithm>
#include <cmath>

namespace headway::data {
namespace {

double total_s(const StageCounters& stage) { return stage.busy_s + stage.waiting_input_s + stage.waiting_output_s; }

double busy_each_s(const StageCounters& stage) { return stage.busy_s / std::max(stage.workers, 1); }

std::string percent(double part, double whole) {
  return std::to_string(whole > 0 ? std::lround(100 * part / whole) : 0) + " %";
}

/// Seen from the ranks, the first stage that works more than it waits for the one before it,
/// however long its output waits for slow ranks; of the stages that share its threads, the one that
/// uses them most.
const StageCounters& slowest(std::span<const StageCounters> stages) {
  const StageCounters* found = &stages.front();
  for (std::size_t place = stages.size(); place-- > 1;) {
    if (stages[place].waiting_input_s < std::max(stages[place].busy_s, stages[place].waiting_memory_s)) {
      found = &stages[place];
      break;
    }
  }
  for (const StageCounters& each : stages) {
    if (each.pool == found->pool && busy_each_s(each) > busy_each_s(*found)) found = &each;
  }
  return *found;
}

/// Whether the stage can be what the ranks waited for: as a share of the time, its work is at least
/// half of their wait.
bool explains(const StageCounters& stage, double waiting_share) {
  const double worked_s = std::max(stage.busy_s, stage.waiting_memory_s);
  return 2 * worked_s >= waiting_share * total_s(stage);
}

std::string stage_words(const StageCounters& stage) {
  if (stage.waiting_memory_s > stage.busy_s) {
    return "; " + stage.name + " waited for memory " + percent(stage.waiting_memory_s, total_s(stage)) +
           " of the time: the memory budget is too small";
  }
  return "; the slowest stage is " + stage.name + ", busy " + percent(stage.busy_s, total_s(stage)) +
         " of the time with " + std::to_string(stage.workers) + (stage.workers == 1 ? " worker" : " workers");
}

std::string whole_seconds(double seconds) { return std::to_string(std::lround(seconds)) + " s"; }

}  // namespace

Verdict verdict_of(std::span<const StageCounters> stages, const RankCounters& ranks) {
  Verdict verdict;
  if (!(ranks.elapsed_s > 0)) {
    verdict.words = "no rank has had a batch yet";
    return verdict;
  }
  verdict.waiting_share = ranks.waiting_s / ranks.elapsed_s;
  verdict.is_data_bound = verdict.waiting_share > data_bound_share;
  verdict.words = verdict.is_data_bound ? "data-bound" : "not data-bound";
  verdict.words += ": ranks waited for batches " + percent(ranks.waiting_s, ranks.elapsed_s) + " of the time";
  if (verdict.is_data_bound && !stages.empty()) {
    const StageCounters& stage = slowest(stages);
    if (explains(stage, verdict.waiting_share)) {
      verdict.stage = stage.name;
      verdict.words += stage_words(stage);
    } else {
      verdict.words += "; no stage was busy for as long: most of it was their start";
    }
  }
  return verdict;
}

std::string verdict_line(const Verdict& verdict) {
  const std::string share = percent(verdict.waiting_share, 1);
  if (!verdict.is_data_bound) return "not data-bound (ranks waited " + share + ")";
  return "data-bound" + (verdict.stage ? " by stage " + *verdict.stage : "") + ": ranks waited " + share +
         " of the time for data";
}

std::string awaited_words(const FlowCounters& flow) {
  if (!flow.absent.empty()) return ranks_have(flow.absent) + " not begun this epoch";
  if (!flow.awaited) return "";
  return ranks_have({*flow.awaited}) + " taken none of its batches for " + whole_seconds(flow.awaited_for_s);
}

std::string starving_words(const FlowCounters& flow) {
  if (std::string words = awaited_words(flow); !words.empty()) return words;
  // Rows come from the source: the last stage that is at work holds up those behind it.
  for (std::size_t place = flow.stages.size(); place-- > 0;) {
    const StageCounters& stage = flow.stages[place];
    if (stage.at_work > 0) return "stage " + stage.name + " has had no output for " + whole_seconds(stage.silent_s);
  }
  return "";
}

void add_stages(std::vector<StageCounters>& all, std::span<const StageCounters> epoch) {
  std::vector<bool> taken(all.size());
  for (const StageCounters& each : epoch) {
    std::size_t place = 0;
    while (place < taken.size() && (taken[place] || all[place].name != each.name)) ++place;
    if (place == taken.size()) {
      all.push_back(each);
      taken.push_back(true);
      continue;
    }
    taken[place] = true;
    StageCounters& sum = all[place];
    sum.workers = std::max(sum.workers, each.workers);
    sum.busy_s += each.busy_s;
    sum.waiting_input_s += each.waiting_input_s;
    sum.waiting_output_s += each.waiting_output_s;
    sum.waiting_memory_s += each.waiting_memory_s;
    sum.rows += each.rows;
    sum.bytes += each.bytes;
    sum.held_bytes = each.held_bytes;
    sum.at_work = each.at_work;
    sum.silent_s = each.silent_s;
  }
}

void add_flow(FlowCounters& all, const FlowCounters& epoch) {
  all.elapsed_s += epoch.elapsed_s;
  all.rows += epoch.rows;
  all.budget_bytes = epoch.budget_bytes;
  all.held_bytes = epoch.held_bytes;
  all.held_bytes_max = std::max(all.held_bytes_max, epoch.held_bytes_max);
  add_stages(all.stages, epoch.stages);
}

}  // namespace headway::data
