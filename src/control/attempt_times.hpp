#pragma once

#include "core/loop_progress.hpp"

#include <optional>
#include <string>
#include <vector>

/// How long each rank of an attempt took, as step_times_<attempt>.json has it.
namespace headway::control {

struct RankTimes {
  int rank = 0;
  std::string hostname;
  std::optional<Times> steps;    ///< From optimizer step to optimizer step, where they are counted.
  std::optional<Times> reports;  ///< From leaving a report to making the next.
  /// The share of the time of `steps` in collectives and reports; unset where collectives cannot be
  /// measured.
  std::optional<double> waiting_share;
  std::optional<double> forward_s = {};   ///< Of the time of `steps`: see LoopProgress.
  std::optional<double> backward_s = {};  ///< The same.
};
BOOST_DESCRIBE_STRUCT(RankTimes, (), (rank, hostname, steps, reports, waiting_share, forward_s, backward_s))

struct AttemptTimes {
  int attempt = 0;
  std::vector<RankTimes> ranks;
};
BOOST_DESCRIBE_STRUCT(AttemptTimes, (), (attempt, ranks))

}  // namespace headway::control
