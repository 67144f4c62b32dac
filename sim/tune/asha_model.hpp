#pragma once

#include "control/tune/asha.hpp"
#include "control/tune/decision.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace headway::control::tune::sim {

/// The verdicts of ASHA (one bracket, no promotions), said in another way than the scheduler's: a
/// table of milestones, and quantiles by counting.
class AshaModel {
 public:
  explicit AshaModel(const AshaSpec& spec);

  /// Whether the trial ends with this report; `stops`: another rule has ended it already.
  bool ends(std::int64_t trial, double time, double score, bool stops);

 private:
  AshaSpec spec_;
  /// By milestone, the highest first, what was recorded.
  std::map<double, std::vector<double>, std::greater<>> rungs_;
  std::map<double, std::set<std::int64_t>> recorded_;
};

}  // namespace headway::control::tune::sim
