#pragma once

#include "core/json.hpp"
#include "dashboard/run_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::dashboard {

/// Where the time of an interval went, in seconds of one rank, as a mean over the ranks. What
/// cannot be measured is unset.
struct StepSplit {
  double x = 0;  ///< The interval's end, in seconds since 1970.
  double from = 0;
  std::optional<double> data;
  std::optional<double> forward;   ///< Up to the first gradient.
  std::optional<double> backward;  ///< Up to the last one.
  std::optional<double> compute;   ///< All that is not named.
  std::optional<double> communication;
  std::optional<double> checkpoint;
  std::optional<double> report;
};
BOOST_DESCRIBE_STRUCT(StepSplit, (), (x, from, data, forward, backward, compute, communication, checkpoint, report))

/// The rank that holds the others back.
struct Straggler {
  int rank = 0;
  std::string words;
  double behind_s = 0;  ///< So much longer is its own part of a step.
};
BOOST_DESCRIBE_STRUCT(Straggler, (), (rank, words, behind_s))

/// How long steps took, by rank and time.
struct StepMap {
  std::vector<int> ranks;
  std::vector<std::string> hosts;  ///< By rank.
  std::optional<double> from_s;
  std::optional<double> to_s;
  /// By rank: seconds of a step in each part of the time; unset where no step ended.
  std::vector<std::vector<std::optional<double>>> cells;
  std::vector<StepSplit> split;
  std::optional<Straggler> straggler;
};
BOOST_DESCRIBE_STRUCT(StepMap, (), (ranks, hosts, from_s, to_s, cells, split, straggler))

/// `over`: it speaks of a run that has ended.
StepMap step_map(const RunRecord& record, std::size_t points, bool over = false);

/// Among ranks whose own part of a step is known: who takes clearly longer than the others.
std::optional<Straggler> straggler_of(const std::vector<driver::RankSteps>& ranks,
                                      const std::vector<std::string>& hosts, bool over = false);
/// That of the newest steps that a record has.
std::optional<Straggler> straggler_in(const RunRecord& record, bool over);

}  // namespace headway::dashboard
