#include "sim/tune/asha_model.hpp"

#include <algorithm>
#include <cmath>

namespace headway::control::tune::sim {
namespace {

/// The value below which the worse part of 1 - 1 / factor lies, between two neighbours in
/// proportion.
double quantile(std::vector<double> values, double factor) {
  std::sort(values.begin(), values.end());
  const double place = static_cast<double>(values.size() - 1) * (1 - 1 / factor);
  const auto low = static_cast<std::size_t>(std::floor(place));
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + ((values[high] - values[low]) * (place - std::floor(place)));
}

}  // namespace

AshaModel::AshaModel(const AshaSpec& spec) : spec_(spec) {
  double milestone = spec.grace_period;
  while (milestone <= spec.max_t) {
    rungs_[milestone] = {};
    milestone *= spec.reduction_factor;
  }
}

bool AshaModel::ends(std::int64_t trial, double time, double score, bool stops) {
  if (!stops && spec_.stop_last_trials && time >= spec_.max_t) return true;
  for (auto& [milestone, scores] : rungs_) {
    if (time < milestone) continue;
    if (!recorded_[milestone].insert(trial).second) {
      if (!spec_.stop_last_trials) return false;
      continue;
    }
    const bool is_bad = !scores.empty() && score < quantile(scores, spec_.reduction_factor);
    scores.push_back(score);
    return is_bad;
  }
  return false;
}

}  // namespace headway::control::tune::sim
