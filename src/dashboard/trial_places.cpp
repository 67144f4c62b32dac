#include "dashboard/trial_places.hpp"

#include <algorithm>

namespace headway::dashboard {

TrialPlaces trial_places(const ExperimentRecord& record, std::size_t most) {
  TrialPlaces shown;
  std::vector<TrialSpell>& spells = shown.spells;
  for (std::size_t number = 0; number < record.trials().size(); ++number) {
    const control::tune::Trial& trial = record.trials()[number];
    for (const Spell& spell : record.of(number).spells) {
      spells.push_back({trial.trial_id, trial.folder, boost::describe::enum_to_string(trial.state, ""), 0,
                        spell.start_unix_s, spell.end_unix_s});
    }
  }
  shown.total = static_cast<std::int64_t>(spells.size());
  if (spells.empty()) return shown;
  std::ranges::stable_sort(spells, {}, &TrialSpell::start_s);
  const double until = record.last_unix_s();
  shown.from_s = spells.front().start_s;
  shown.to_s = until;
  std::vector<double> free_from;  // By place.
  double busy = 0;
  for (TrialSpell& spell : spells) {
    const auto place = std::ranges::find_if(free_from, [&](double from) { return from <= spell.start_s; });
    spell.place = static_cast<int>(place - free_from.begin());
    const double end = spell.end_s.value_or(until);
    if (place == free_from.end()) {
      free_from.push_back(end);
    } else {
      *place = end;
    }
    busy += std::max(0.0, end - spell.start_s);
  }
  shown.places = static_cast<int>(free_from.size());
  const double all = (until - *shown.from_s) * static_cast<double>(free_from.size());
  if (all > 0) shown.busy = std::min(1.0, busy / all);
  if (spells.size() > most) spells.erase(spells.begin(), spells.end() - static_cast<std::ptrdiff_t>(most));
  return shown;
}

}  // namespace headway::dashboard
