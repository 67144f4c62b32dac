#pragma once

#include "core/json.hpp"
#include "dashboard/run_record.hpp"
#include "dashboard/straggler.hpp"

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

/// How long steps took, by rank and time.
struct StepMap {
  std::vector<int> ranks;
  std::vector<std::string> hosts;  ///< By rank.
  std::optional<double> from_s;
  std::optional<double> to_s;
  /// By rank: seconds of a step in each part of the time, without waiting for others where that is
  /// known; unset where no step ended.
  std::vector<std::vector<std::optional<double>>> cells;
  std::vector<StepSplit> split;
  std::optional<Straggler> straggler;
};
BOOST_DESCRIBE_STRUCT(StepMap, (), (ranks, hosts, from_s, to_s, cells, split, straggler))

/// All but the straggler.
StepMap step_map(const RunRecord& record, std::size_t points);

}  // namespace headway::dashboard
