#include "control/tune/pbt.hpp"

#include "control/tune/arguments.hpp"
#include "control/tune/decision_words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway::control::tune {
namespace {

/// A score that is no number is worse than all others.
double ranked_score(double score) { return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score; }

}  // namespace

Result<void> validate(const PbtSpec& spec) {
  const char* name = spec.label == "PB2" ? "PB2" : "PopulationBasedTraining";
  if (auto named = check_names(name, spec.time_attr, spec.metric, spec.mode); !named) return named;
  if (!std::isfinite(spec.perturbation_interval) || spec.perturbation_interval <= 0) {
    return refused_argument(name, "perturbation_interval", spec.perturbation_interval, "a number above 0");
  }
  if (!std::isfinite(spec.burn_in_period)) {
    return refused_argument(name, "burn_in_period", spec.burn_in_period, "a number");
  }
  if (!(spec.quantile_fraction >= 0 && spec.quantile_fraction <= 0.5)) {
    return refused_argument(name, "quantile_fraction", spec.quantile_fraction, "a number from 0 to 0.5");
  }
  return {};
}

Pbt::Pbt(PbtSpec spec, std::uint64_t seed) : spec_(std::move(spec)) {
  state_.next_sync = std::max(spec_.perturbation_interval, spec_.burn_in_period);
  state_.draws.seed = seed;
}

void Pbt::added(std::int64_t trial) {
  if (find(trial) != nullptr) return;
  state_.members.insert(std::ranges::lower_bound(state_.members, trial, {}, &Member::trial), {.trial = trial});
}

Pbt::Member* Pbt::find(std::int64_t trial) {
  const auto found = std::ranges::find(state_.members, trial, &Member::trial);
  return found == state_.members.end() ? nullptr : &*found;
}

Decision Pbt::reported(const Progress& progress, SideEffects& effects) {
  Member* member = find(progress.trial);
  if (member == nullptr || progress.time < spec_.burn_in_period ||
      progress.time - member->perturbed_at < spec_.perturbation_interval) {
    return {};
  }
  member->score = progress.score;
  member->trained = progress.time;
  member->checkpoint = progress.checkpoint;
  member->iteration = progress.iteration;
  remember({progress.trial, progress.time, progress.score, progress.config});
  if (spec_.synch) return reported_in_step(progress, effects);
  member->perturbed_at = progress.time;
  const Quantiles among = quantiles();
  if (judge(*member, among, effects)) return {Verdict::pause, effects.copies.back().reason};
  if (progress.others_wait) return {Verdict::pause, spec_.label + ": it makes way for trials that have trained less"};
  return {};
}

void Pbt::configured(std::int64_t trial, double score, const std::string& config) {
  if (const Member* member = find(trial)) remember({trial, member->trained, score, config});
}

void Pbt::remember(Point point) {
  constexpr std::size_t points_max = 2000;
  if (!spec_.keeps_history) return;
  if (state_.history.size() >= points_max) state_.history.erase(state_.history.begin());
  state_.history.push_back(std::move(point));
}

/// Of one trial nobody is better.
Pbt::Quantiles Pbt::quantiles() const {
  std::vector<const Member*> ranked;
  for (const Member& member : state_.members) {
    if (member.score) ranked.push_back(&member);
  }
  std::ranges::stable_sort(ranked, {}, [](const Member* member) { return ranked_score(*member->score); });
  Quantiles found{{}, {}, ranked.size()};
  if (ranked.size() <= 1) return found;
  auto count = static_cast<std::size_t>(std::ceil(static_cast<double>(ranked.size()) * spec_.quantile_fraction));
  count = std::min(count, ranked.size() / 2);
  for (std::size_t i = 0; i < count; ++i) found.lower.push_back(ranked[i]->trial);
  // As in Ray, of a fraction of 0: all.
  for (std::size_t i = count > 0 ? ranked.size() - count : 0; i < ranked.size(); ++i) {
    found.upper.push_back(ranked[i]->trial);
  }
  return found;
}

/// Whether it goes on as a copy.
bool Pbt::judge(Member& member, const Quantiles& among, SideEffects& effects) {
  if (std::ranges::find(among.upper, member.trial) == among.upper.end()) member.checkpoint.reset();
  if (std::ranges::find(among.lower, member.trial) == among.lower.end()) return false;
  const auto drawn = static_cast<std::size_t>(state_.draws.uniform() * static_cast<double>(among.upper.size()));
  const Member& donor = *find(among.upper[std::min(drawn, among.upper.size() - 1)]);
  if (!donor.checkpoint) return false;
  effects.copies.push_back({member.trial, donor.trial, *donor.checkpoint, donor.iteration, donor.score.value_or(0),
                            words_of(member, among)});
  member.perturbed_at = donor.perturbed_at;
  member.trained = donor.trained;
  return true;
}

/// The trials wait until all of them have come to next_sync.
Decision Pbt::reported_in_step(const Progress& progress, SideEffects& effects) {
  // Trials that are still to be suggested are waited for, too.
  const bool all_there = !progress.others_wait && std::ranges::all_of(state_.members, [&](const Member& other) {
    return other.trial == progress.trial || other.trained >= state_.next_sync;
  });
  if (all_there) {
    perturb_all(progress.time, effects);
    const auto copied = std::ranges::find(effects.copies, progress.trial, &SideEffects::Copy::trial);
    if (copied != effects.copies.end()) return {Verdict::pause, copied->reason};
    if (std::erase(effects.resumed, progress.trial) > 0) return {};
  } else if (progress.time < state_.next_sync) {
    if (!progress.others_wait) return {};
    effects.resumed.push_back(progress.trial);
    return {Verdict::pause, spec_.label + ": it makes way for trials that have trained less"};
  }
  return {Verdict::pause,
          spec_.label + ": it waits for the others at " + time_words(spec_.time_attr, state_.next_sync)};
}

/// Judges all, first those that others are copied from. Whoever is behind the next time goes on.
void Pbt::perturb_all(double time, SideEffects& effects) {
  const Quantiles among = quantiles();
  const auto judge_one = [&](Member& member) {
    member.perturbed_at = time;
    (void)judge(member, among, effects);
  };
  const auto is_lower = [&](const Member& member) {
    return std::ranges::find(among.lower, member.trial) != among.lower.end();
  };
  for (Member& member : state_.members) {
    if (!is_lower(member)) judge_one(member);
  }
  for (const std::int64_t trial : among.lower) judge_one(*find(trial));
  double most = state_.trained_most;
  for (const Member& member : state_.members) most = std::max(most, member.trained);
  state_.next_sync = std::max(state_.next_sync + spec_.perturbation_interval, most);
  const bool any_behind =
      std::ranges::any_of(state_.members, [&](const Member& member) { return member.trained < state_.next_sync; });
  if (!any_behind) state_.next_sync = most + spec_.perturbation_interval;
  for (const Member& member : state_.members) {
    const bool is_copied =
        std::ranges::find(effects.copies, member.trial, &SideEffects::Copy::trial) != effects.copies.end();
    if (!is_copied && member.trained < state_.next_sync) effects.resumed.push_back(member.trial);
  }
}

void Pbt::removed(std::int64_t trial, SideEffects& effects) {
  if (const Member* member = find(trial)) state_.trained_most = std::max(state_.trained_most, member->trained);
  std::erase_if(state_.members, [&](const Member& each) { return each.trial == trial; });
  if (!spec_.synch || state_.members.empty()) return;
  const bool all_there =
      std::ranges::all_of(state_.members, [&](const Member& other) { return other.trained >= state_.next_sync; });
  if (all_there) perturb_all(std::ranges::max(state_.members, {}, &Member::trained).trained, effects);
}

bool Pbt::may_run(std::int64_t trial) const {
  const auto member = std::ranges::find(state_.members, trial, &Member::trial);
  return !spec_.synch || member == state_.members.end() || member->trained < state_.next_sync;
}

std::int64_t Pbt::choose(const std::set<std::int64_t>& candidates) const {
  const auto trained = [&](std::int64_t trial) {
    const auto member = std::ranges::find(state_.members, trial, &Member::trial);
    return member == state_.members.end() ? 0 : member->trained;
  };
  return *std::ranges::min_element(candidates, {}, trained);
}

std::map<std::int64_t, std::vector<std::string>> Pbt::pinned() const {
  std::map<std::int64_t, std::vector<std::string>> pinned;
  for (const Member& member : state_.members) {
    if (member.checkpoint) pinned[member.trial].push_back(*member.checkpoint);
  }
  return pinned;
}

std::string Pbt::words_of(const Member& member, const Quantiles& among) const {
  const double score = is_less_better(spec_.mode) ? -*member.score : *member.score;
  return spec_.label + ": " + short_number(score) + " is among the worst " + std::to_string(among.lower.size()) +
         " of " + std::to_string(among.population) + " trials at " + time_words(spec_.time_attr, member.trained);
}

Decision PbtReplay::reported(const Progress& progress, SideEffects& effects) {
  const auto next = static_cast<std::size_t>(state_.done);
  if (next >= spec_.changes.size() || progress.iteration < spec_.changes[next]) return {};
  ++state_.done;
  const std::string reason =
      "PBT replay: its configuration changes at " + time_words("training_iteration", progress.iteration);
  effects.copies.push_back(
      {progress.trial, progress.trial, progress.checkpoint.value_or(""), progress.iteration, 0, reason});
  return {Verdict::pause, reason};
}

}  // namespace headway::control::tune
