#pragma once

#include "core/stage_counters.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Whether training waits for data, and for which stage.
namespace headway::data {

struct Verdict {
  bool is_data_bound = false;
  double waiting_share = 0;          ///< Of the ranks' time.
  std::optional<std::string> stage;  ///< That the others wait for; none where all were idle.
  std::string words;
};
BOOST_DESCRIBE_STRUCT(Verdict, (), (is_data_bound, waiting_share, stage, words))

/// Ranks that wait for more of their time than this are data-bound.
inline constexpr double data_bound_share = 0.05;

/// `stages`: the source first, the stage that feeds the ranks last.
Verdict verdict_of(std::span<const StageCounters> stages, const RankCounters& ranks);

/// "data-bound by stage map_batches(f): ranks waited 61 % of the time for data", "not data-bound
/// (ranks waited 1 %)".
std::string verdict_line(const Verdict& verdict);

/// What a rank that waits for a batch waits for: "stage map_batches(f) has had no output for 60 s",
/// "rank 0 has not begun this epoch", "rank 0 has taken no batch for 60 s". Empty: unknown.
std::string starving_words(const FlowCounters& flow);

/// Of these, the rank that the others wait for: "rank 0 has not begun this epoch". Empty: none.
std::string awaited_words(const FlowCounters& flow);

/// Adds an epoch to those before. A stage that was not there before comes last.
void add_stages(std::vector<StageCounters>& all, std::span<const StageCounters> epoch);

/// The same for all that is known of it.
void add_flow(FlowCounters& all, const FlowCounters& epoch);

}  // namespace headway::data
