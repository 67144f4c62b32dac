#pragma once

#include "core/json.hpp"
#include "dashboard/experiment_record.hpp"

#include <string>
#include <vector>

namespace headway::dashboard {

/// What one parameter has to do with whether a trial is among the best.
struct Importance {
  std::string name;
  double share = 0;  ///< Of all parameters' together.
};
BOOST_DESCRIBE_STRUCT(Importance, (), (name, share))

struct Importances {
  std::string metric;
  std::int64_t trials = 0;  ///< With a value of the metric.
  std::int64_t best = 0;    ///< So many of them are the best ones.
  std::string why_none;     ///< Empty: there are some.
  std::vector<Importance> parameters;
};
BOOST_DESCRIBE_STRUCT(Importances, (), (metric, trials, best, why_none, parameters))

/// By PED-ANOVA (Watanabe, Bansal, Hutter 2023), as Optuna has it: for each parameter how far its
/// distribution in the best tenth of the trials is from that in all of them. The greatest first.
Importances importances_of(const ExperimentRecord& record);

/// How far the places of the best are from the places of all, by Pearson's divergence of their
/// smoothed histograms over `cells` cells. `ordered`: neighbours are alike. Both have a place.
double divergence(const std::vector<int>& best, const std::vector<int>& all, int cells, bool ordered);

}  // namespace headway::dashboard
