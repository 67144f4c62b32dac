#pragma once

#include "core/json.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headway::driver {

/// Names and values, in order. The values belong to the object that they were taken from, and must
/// not outlive it.
using FlatMetrics = std::vector<std::pair<std::string, const Json*>>;

/// Metrics without nesting: {"eval": {"loss": 1}} becomes "eval/loss": 1, in the order in which
/// they stand. Lists are values. Of a name that comes twice ("eval/loss" itself beside a nested
/// one) the less nested value is taken, as for scores.
FlatMetrics flat_metrics(const JsonObject& metrics);

}  // namespace headway::driver
