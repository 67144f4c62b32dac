#include "dashboard/causes.hpp"

#include "dashboard/straggler.hpp"

#include <algorithm>

namespace headway::dashboard {
namespace {

/// Of a rank that others waited for when the run failed.
std::vector<Cause> hangs_of(const control::RunView& view, const RunRecord& record) {
  std::vector<Cause> causes;
  if (!view.failure || record.stacks().empty()) return causes;
  const std::vector<StackRecord>& stacks = record.stacks();
  for (const control::RankFailure& rank : view.failure->ranks) {
    if (rank.kind != control::RankFailureKind::hang) continue;
    const auto seen = std::ranges::find(stacks.rbegin(), stacks.rend(), rank.rank, &StackRecord::rank);
    if (seen == stacks.rend() || (rank.attempt && seen->attempt != *rank.attempt)) continue;
    const std::string place = place_in_stack(seen->text);
    const std::string number = "rank " + std::to_string(rank.rank);
    causes.push_back({number + " stood still" + (place.empty() ? "; its stack was taken" : " in " + place), "stacks"});
    break;  // The others' are in that part.
  }
  return causes;
}

}  // namespace

std::vector<Cause> causes_of(const control::RunView& view, const RunRecord& record, const VerdictContext& context) {
  std::vector<Cause> causes = hangs_of(view, record);
  if (const auto straggler = straggler_now(view, record)) {
    // The verdict of a run at work says that it is slow.
    const bool over = control::is_over(view.state);
    causes.push_back(
        {over ? "slow: " + straggler->words + "; it " + straggler->detail : straggler->name + " " + straggler->detail,
         "steps", straggler->since_unix_s});
  }
  if (context.data && context.data->verdict.is_data_bound) causes.push_back({context.data->verdict.words, "data"});
  return causes;
}

std::optional<Cause> first_cause(const control::RunView& view, const RunRecord& record, const VerdictContext& context) {
  if (!control::is_over(view.state)) return std::nullopt;
  std::vector<Cause> causes = causes_of(view, record, context);
  // Where a rank hung is a part of the verdict.
  const auto first = std::ranges::find_if(causes, [](const Cause& cause) { return cause.part != "stacks"; });
  if (first == causes.end()) return std::nullopt;
  return std::move(*first);
}

}  // namespace headway::dashboard
