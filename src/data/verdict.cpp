#include "data/verdict.hpp"

#include <cmath>

namespace headway::data {
namespace {

double total_s(const StageCounters& stage) { return stage.busy_s + stage.waiting_input_s + stage.waiting_output_s; }

std::string percent(double part, double whole) {
  return std::to_string(whole > 0 ? std::lround(100 * part / whole) : 0) + " %";
}

/// Seen from the ranks, the first stage that does not itself wait for the one before it.
const StageCounters& slowest(std::span<const StageCounters> stages) {
  for (std::size_t place = stages.size(); place-- > 1;) {
    if (stages[place].waiting_input_s * 2 < total_s(stages[place])) return stages[place];
  }
  return stages.front();
}

std::string stage_words(const StageCounters& stage) {
  if (stage.waiting_output_s > stage.busy_s) {
    return "; " + stage.name + " waited for memory " + percent(stage.waiting_output_s, total_s(stage)) +
           " of the time: the memory budget is too small";
  }
  return "; the slowest stage is " + stage.name + ", busy " + percent(stage.busy_s, total_s(stage)) +
         " of the time with " + std::to_string(stage.workers) + (stage.workers == 1 ? " worker" : " workers");
}

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
    verdict.stage = stage.name;
    verdict.words += stage_words(stage);
  }
  return verdict;
}

}  // namespace headway::data
