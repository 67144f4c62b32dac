#pragma once

#include "core/json.hpp"
#include "dashboard/experiment_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::dashboard {

/// A time during which a trial had a place.
struct TrialSpell {
  std::string id;
  std::string name;
  std::string state;
  int place = 0;
  double start_s = 0;           ///< In seconds since 1970.
  std::optional<double> end_s;  ///< Unset: it has it still.
};
BOOST_DESCRIBE_STRUCT(TrialSpell, (), (id, name, state, place, start_s, end_s))

/// Which trials were at work when, each on the first place that was free.
struct TrialPlaces {
  std::int64_t total = 0;  ///< Spells; the newest are shown.
  int places = 0;          ///< The most trials that were at work at once.
  std::optional<double> from_s;
  std::optional<double> to_s;
  std::optional<double> busy;  ///< The share of the places' time that had a trial.
  std::vector<TrialSpell> spells;
};
BOOST_DESCRIBE_STRUCT(TrialPlaces, (), (total, places, from_s, to_s, busy, spells))

TrialPlaces trial_places(const ExperimentRecord& record, std::size_t most);

}  // namespace headway::dashboard
