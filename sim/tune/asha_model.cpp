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
  for (double milestone = spec.grace_period; milestone <= spec.max_t; milestone *= spec.reduction_factor) {
    rungs_[milestone] = {};
  }
}

bool AshaModel::ends(std::int64_t trial, double time, double score, bool stops) {
  if (!stops && spec_.stop_last_trials && time >= spec_.max_t) return true;
  for (auto rung = rungs_.rbegin(); rung != rungs_.rend(); ++rung) {
    if (time < rung->first) continue;
    if (!recorded_[rung->first].insert(trial).second) {
      if (!spec_.stop_last_trials) return false;
      continue;
    }
    const bool is_bad = !rung->second.empty() && score < quantile(rung->second, spec_.reduction_factor);
    rung->second.push_back(score);
    return is_bad;
  }
  return false;
}

}  // namespace headway::control::tune::sim
