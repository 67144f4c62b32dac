#include "control/tune/hyperband.hpp"

#include "control/tune/arguments.hpp"
#include "control/tune/decision_words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway::control::tune {
namespace {

/// s_max + 1. numpy rounds a half to the even number.
int brackets_in_band(const HyperBandSpec& spec) {
  return static_cast<int>(std::nearbyint(std::log(spec.max_t) / std::log(spec.reduction_factor))) + 1;
}

double first_time(const HyperBandSpec& spec, int s) {
  return std::trunc(spec.max_t * std::pow(spec.reduction_factor, -s));
}

double first_room(const HyperBandSpec& spec, int s) {
  return std::ceil(static_cast<double>(brackets_in_band(spec)) / (s + 1) * std::pow(spec.reduction_factor, s));
}

/// A score that is no number is worse than all others.
double comparable(double score) { return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score; }

}  // namespace

Result<void> validate(const HyperBandSpec& spec) {
  const char* name = spec.bohb ? "HyperBandForBOHB" : "HyperBandScheduler";
  if (auto named = check_names(name, spec.time_attr, spec.metric, spec.mode); !named) return named;
  if (!std::isfinite(spec.max_t) || spec.max_t < 1) {
    return refused_argument(name, "max_t", spec.max_t, "a number from 1 on");
  }
  if (!std::isfinite(spec.reduction_factor) || spec.reduction_factor <= 1) {
    return refused_argument(name, "reduction_factor", spec.reduction_factor, "a number above 1");
  }
  constexpr double halvings_max = 64;
  constexpr double trials_max = 1e9;
  if (std::log(spec.max_t) / std::log(spec.reduction_factor) > halvings_max ||
      first_room(spec, brackets_in_band(spec) - 1) > trials_max) {
    return refused_argument(name, "reduction_factor", spec.reduction_factor,
                            "one with at most 64 halvings and 1e9 trials in a bracket");
  }
  return {};
}

void HyperBand::added(std::int64_t trial) {
  if (state_.bracket_of.contains(std::to_string(trial))) return;
  if (state_.brackets.empty() || is_full(state_.brackets.back())) open_bracket();
  Bracket& bracket = state_.brackets.back();
  bracket.members.push_back({trial});
  bracket.filled = bracket.filled || is_full(bracket);
  state_.bracket_of[std::to_string(trial)] = static_cast<int>(state_.brackets.size()) - 1;
}

/// A bracket whose first time would be 0 has its place in the band, and no trials.
void HyperBand::open_bracket() {
  const int count = brackets_in_band(spec_);
  for (;;) {
    if (state_.in_band == count) state_.in_band = 0;
    const int s = spec_.bohb ? count - state_.in_band - 1 : state_.in_band;
    ++state_.in_band;
    if (first_time(spec_, s) < 1) continue;
    state_.brackets.push_back({{}, static_cast<int>(first_room(spec_, s)), first_time(spec_, s), s});
    return;
  }
}

bool HyperBand::is_full(const Bracket& bracket) const {
  return bracket.members.size() == static_cast<std::size_t>(bracket.room);
}

bool HyperBand::goes_on(const Bracket& bracket, const Member& member) const {
  return member.time < bracket.until || (bracket.halvings_left == 0 && !spec_.stop_last_trials);
}

bool HyperBand::is_complete(const Bracket& bracket) const {
  return !bracket.members.empty() &&
         std::ranges::all_of(bracket.members, [&](const Member& each) { return each.time >= bracket.until; });
}

Decision HyperBand::reported(const Progress& progress, SideEffects& effects) {
  const auto found = state_.bracket_of.find(std::to_string(progress.trial));
  if (found == state_.bracket_of.end()) return {};
  Bracket& bracket = state_.brackets[static_cast<std::size_t>(found->second)];
  Member& member = *std::ranges::find(bracket.members, progress.trial, &Member::trial);
  member.time = progress.time;
  member.score = progress.score;
  if (goes_on(bracket, member)) return {};
  const double until = bracket.until;
  if (!spec_.bohb || bracket.filled) process(bracket, effects);
  // What becomes of this trial is the answer to its report.
  const auto ended = std::ranges::find(effects.stopped, progress.trial, &SideEffects::Stopped::trial);
  if (ended != effects.stopped.end()) {
    Decision decision{Verdict::stop, std::move(ended->reason)};
    effects.stopped.erase(ended);
    return decision;
  }
  if (std::erase(effects.resumed, progress.trial) > 0) return {};
  return {Verdict::pause,
          "HyperBand: it waits at " + time_words(spec_.time_attr, until) + " for the others of its bracket"};
}

void HyperBand::removed(std::int64_t trial, SideEffects& effects) {
  const auto found = state_.bracket_of.find(std::to_string(trial));
  if (found == state_.bracket_of.end()) return;
  Bracket& bracket = state_.brackets[static_cast<std::size_t>(found->second)];
  state_.bracket_of.erase(found);
  std::erase_if(bracket.members, [&](const Member& each) { return each.trial == trial; });
  process(bracket, effects);
}

void HyperBand::idle(SideEffects& effects) {
  for (Bracket& bracket : state_.brackets) process(bracket, effects);
}

/// Halves until somebody goes on: trials may have come further than to the next time.
void HyperBand::process(Bracket& bracket, SideEffects& effects) {
  while (is_complete(bracket)) {
    if (bracket.halvings_left == 0) {
      if (spec_.stop_last_trials) end_all(bracket, effects);
      return;
    }
    halve(bracket, effects);
  }
}

void HyperBand::halve(Bracket& bracket, SideEffects& effects) {
  const double at = bracket.until;
  --bracket.halvings_left;
  bracket.room = static_cast<int>(std::ceil(bracket.room / spec_.reduction_factor));
  bracket.until = std::trunc(std::min(bracket.until * spec_.reduction_factor, spec_.max_t));
  std::vector<Member> ranked = bracket.members;
  std::ranges::stable_sort(ranked, {}, [](const Member& each) { return comparable(each.score); });
  const std::size_t best = std::min(static_cast<std::size_t>(bracket.room), ranked.size());
  const std::size_t bad = ranked.size() - best;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const Member& each = ranked[i];
    if (i < bad) {
      effects.stopped.push_back({each.trial, words_of(each, best, ranked.size(), at)});
      state_.bracket_of.erase(std::to_string(each.trial));
      std::erase_if(bracket.members, [&](const Member& member) { return member.trial == each.trial; });
    } else if (goes_on(bracket, each)) {
      effects.resumed.push_back(each.trial);
    }
  }
}

void HyperBand::end_all(Bracket& bracket, SideEffects& effects) {
  for (const Member& each : std::exchange(bracket.members, {})) {
    effects.stopped.push_back({each.trial, "HyperBand: its bracket has come to max_t, " + short_number(spec_.max_t)});
    state_.bracket_of.erase(std::to_string(each.trial));
  }
}

std::string HyperBand::words_of(const Member& member, std::size_t best, std::size_t count, double at) const {
  return "HyperBand: " + short_number(is_less_better(spec_.mode) ? -member.score : member.score) +
         " is not among the best " + std::to_string(best) + " of " + std::to_string(count) + " trials at " +
         time_words(spec_.time_attr, at);
}

}  // namespace headway::control::tune
