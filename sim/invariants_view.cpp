#include "sim/invariants.hpp"

#include <algorithm>
#include <cmath>

/// What somebody sees who looks at the run between two events.
namespace headway::sim {

using namespace control;

void Invariants::sees(const RunView& view) const {
  require(is_over(view.state) == finished_, invariant::views, "the state is not what has been said");
  require(view.folder_lost == folder_lost_ || finished_, invariant::views, "a lost folder is not seen");
  require(std::isfinite(view.state_for_s) && view.state_for_s >= 0, invariant::views, "a state holds since the future");
  if (!prepared_) return;
  require(view.attempt == attempt_, invariant::views, "another attempt is seen");
  require(view.reports.count == iterations_, invariant::views,
          [&] { return std::to_string(view.reports.count) + " reports are seen"; });
  const auto name_of = [](const KeptCheckpoint& kept) { return kept.name; };
  require(std::ranges::equal(*view.checkpoints, retention_.kept(), {}, name_of), invariant::views,
          "other checkpoints are seen than are kept");
  const auto has_process = [](const ValidationView& each) { return each.stage != ValidationStage::waiting; };
  require(std::ranges::count_if(view.validations, has_process) == static_cast<std::ptrdiff_t>(validations_.size()),
          invariant::views, "other validations are seen than have processes");
  check_view_of_reports(view);
  if (groups_ > 0) check_view_of_ranks(view);
  require(!view.wait || (!view.wait->words.empty() && view.wait->for_s >= 0), invariant::views, "a wait without words");
}

void Invariants::check_view_of_reports(const RunView& view) const {
  std::int64_t last = -1;
  for (const PendingView& pending : view.pending) {
    require(std::exchange(last, pending.index) < pending.index, invariant::views, "reports are seen out of order");
    const auto report = reports_.find(pending.index);
    require(report != reports_.end() && !report->second.counted, invariant::views,
            [&] { return "report #" + std::to_string(pending.index + 1) + " is seen as pending"; });
    const bool committing = pending.stage == PendingStage::committing;
    require(committing == (committing_ && committing_index_ == pending.index), invariant::views,
            "a commit is seen that never happened");
  }
}

void Invariants::check_view_of_ranks(const RunView& view) const {
  require(static_cast<int>(view.ranks.size()) == world_size_ && view.workers == world_size_, invariant::views,
          "another number of ranks is seen");
  for (const RankView& rank : view.ranks) {
    const auto what = [&](const char* words) { return "rank " + std::to_string(rank.rank) + words; };
    require(rank.gone == gone_.contains(rank.rank), invariant::views, [&] { return what(" is seen as gone"); });
    require(rank.phase != RankPhase::returned || returned_.contains(rank.rank), invariant::views,
            [&] { return what(" is seen as returned"); });
    const auto made =
        std::ranges::count_if(reports_, [&](const auto& report) { return report.second.made_by.contains(rank.rank); });
    require(rank.reports <= made, invariant::views, [&] { return what(" is seen with reports that it never made"); });
    const bool waits = view.state == RunState::running && rank.phase == RankPhase::reporting && !rank.gone;
    require(!waits || !rank.waits_for.empty(), invariant::views, [&] { return what(" waits for nothing"); });
  }
}

}  // namespace headway::sim
