#pragma once

#include "core/reduction.hpp"

#include <string>
#include <vector>

namespace headway::control {

/// A report's metrics, of all ranks.
struct ReducedMetrics {
  JsonObject metrics;
  /// Names that were to be reduced and are no numbers of rank 0's.
  std::vector<std::string> unknown;
};

/// Rank 0's metrics, in which the numbers that `plan` names are reduced over the ranks that report
/// them as numbers. The mean is a float, except for an integer that all ranks have; a sum of
/// integers is one as long as 64 bits hold it. A NaN of any rank makes a NaN.
ReducedMetrics reduce(const ReductionPlan& plan, const std::vector<const JsonObject*>& ranks);

}  // namespace headway::control
