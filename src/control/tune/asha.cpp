#include "control/tune/asha.hpp"

#include "control/tune/arguments.hpp"
#include "control/tune/decision_words.hpp"
#include "control/tune/percentile.hpp"
#include "core/counted.hpp"

#include <algorithm>
#include <cmath>

namespace headway::control::tune {
namespace {

double kept_percent(double reduction_factor) { return (1 - 1 / reduction_factor) * 100; }

Asha::Bracket bracket_of(const AshaSpec& spec, int s) {
  Asha::Bracket bracket;
  const auto rungs =
      static_cast<int>((std::log(spec.max_t / spec.grace_period) / std::log(spec.reduction_factor)) - s + 1);
  for (int k = rungs - 1; k >= 0; --k) {
    bracket.rungs.push_back({spec.grace_period * std::pow(spec.reduction_factor, k + s), {}});
  }
  return bracket;
}

/// The more rungs, the likelier: softmax over their numbers.
int drawn_bracket(const std::vector<Asha::Bracket>& brackets, Draws& draws) {
  if (brackets.size() == 1) return 0;
  std::size_t most = 0;
  for (const Asha::Bracket& bracket : brackets) most = std::max(most, bracket.rungs.size());
  std::vector<double> weights;
  double sum = 0;
  for (const Asha::Bracket& bracket : brackets) {
    weights.push_back(std::exp(static_cast<double>(bracket.rungs.size()) - static_cast<double>(most)));
    sum += weights.back();
  }
  double drawn = draws.uniform() * sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    drawn -= weights[i];
    if (drawn < 0) return static_cast<int>(i);
  }
  return static_cast<int>(weights.size()) - 1;
}

void record(Asha::Rung& rung, const Progress& progress) {
  if (std::isnan(progress.score)) return;
  const auto place = std::ranges::upper_bound(rung.records, progress.score, {}, &Asha::Record::score);
  rung.records.insert(place, {progress.score, progress.trial, false});
}

}  // namespace

Result<void> validate(const AshaSpec& spec) {
  if (auto named = check_names("ASHAScheduler", spec.time_attr, spec.metric, spec.mode); !named) return named;
  const auto refuse = [](const char* argument, double given, const char* allowed) {
    return refused_argument("ASHAScheduler", argument, given, allowed);
  };
  const auto is_above = [](double number, double least) { return std::isfinite(number) && number > least; };
  if (!is_above(spec.max_t, 0)) return refuse("max_t", spec.max_t, "a number above 0");
  if (!is_above(spec.grace_period, 0) || spec.grace_period > spec.max_t) {
    return refuse("grace_period", spec.grace_period, "a number above 0, up to max_t");
  }
  if (!is_above(spec.reduction_factor, 1)) {
    return refuse("reduction_factor", spec.reduction_factor, "a number above 1");
  }
  constexpr int brackets_max = 64;
  if (spec.brackets < 1 || spec.brackets > brackets_max) return refuse("brackets", spec.brackets, "1 to 64");
  constexpr double rungs_max = 64;
  if (std::log(spec.max_t / spec.grace_period) / std::log(spec.reduction_factor) + 1 > rungs_max) {
    return refuse("reduction_factor", spec.reduction_factor, "one with at most 64 rungs up to max_t");
  }
  return {};
}

Asha::Asha(AshaSpec spec, std::uint64_t seed) : spec_(std::move(spec)) {
  state_.draws.seed = seed;
  for (int s = 0; s < spec_.brackets; ++s) state_.brackets.push_back(bracket_of(spec_, s));
}

void Asha::added(std::int64_t trial) {
  state_.members[std::to_string(trial)] = {drawn_bracket(state_.brackets, state_.draws), 0};
}

void Asha::added_again(std::int64_t trial) {
  added(trial);
  Member& member = state_.members.at(std::to_string(trial));
  for (std::size_t b = 0; b < state_.brackets.size(); ++b) {
    const std::vector<Rung>& rungs = state_.brackets[b].rungs;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      if (std::ranges::find(rungs[i].records, trial, &Record::trial) == rungs[i].records.end()) continue;
      member.bracket = static_cast<int>(b);
      member.recorded |= std::uint64_t{1} << i;
    }
  }
}

Decision Asha::reported(const Progress& progress, SideEffects& effects) {
  const auto member = state_.members.find(std::to_string(progress.trial));
  if (member == state_.members.end()) return {};
  if (progress.time >= spec_.max_t && spec_.stop_last_trials) {
    return {Verdict::stop,
            "ASHA: " + time_words(spec_.time_attr, progress.time) + " has come to max_t, " + short_number(spec_.max_t)};
  }
  return judge(progress, member->second, effects);
}

void Asha::completed(const Progress& progress, SideEffects& effects) {
  const auto member = state_.members.find(std::to_string(progress.trial));
  if (member != state_.members.end()) (void)judge(progress, member->second, effects);
}

void Asha::removed(std::int64_t trial) { state_.members.erase(std::to_string(trial)); }

Decision Asha::judge(const Progress& progress, Member& member, SideEffects& effects) {
  std::vector<Rung>& rungs = state_.brackets[static_cast<std::size_t>(member.bracket)].rungs;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (progress.time < rungs[i].milestone) continue;
    if ((member.recorded & bit) != 0) {
      // A trial beyond its last milestone is judged no more.
      if (!spec_.stop_last_trials) break;
      continue;
    }
    member.recorded |= bit;
    return judge_at(rungs[i], progress, effects);
  }
  return {};
}

Decision Asha::judge_at(Rung& rung, const Progress& progress, SideEffects& effects) {
  if (spec_.promote) {
    record(rung, progress);
    return promote_at(rung, progress, effects);
  }
  Decision decision;
  if (!rung.records.empty()) {
    std::vector<double> scores;
    scores.reserve(rung.records.size());
    for (const Record& each : rung.records) scores.push_back(each.score);
    const double cutoff = percentile(scores, kept_percent(spec_.reduction_factor));
    if (progress.score < cutoff) decision = {Verdict::stop, words_of(rung, progress.score, cutoff)};
  }
  record(rung, progress);
  return decision;
}

/// The best 1 / reduction_factor of those recorded at the rung go on, as soon as they are known.
Decision Asha::promote_at(Rung& rung, const Progress& progress, SideEffects& effects) const {
  const auto best = static_cast<std::size_t>(static_cast<double>(rung.records.size()) / spec_.reduction_factor);
  bool goes_on = false;
  for (std::size_t i = rung.records.size() - best; i < rung.records.size(); ++i) {
    Record& each = rung.records[i];
    if (each.promoted) continue;
    each.promoted = true;
    if (each.trial == progress.trial) {
      goes_on = true;
    } else {
      effects.resumed.push_back(each.trial);
    }
  }
  if (goes_on) return {};
  const double shown = is_less_better(spec_.mode) ? -progress.score : progress.score;
  return {Verdict::pause, "ASHA: " + short_number(shown) + " is not among the best " + std::to_string(best) + " of " +
                              std::to_string(rung.records.size()) + " trials at " +
                              time_words(spec_.time_attr, rung.milestone)};
}

std::string Asha::words_of(const Rung& rung, double score, double cutoff) const {
  const bool less = is_less_better(spec_.mode);
  const double percent = kept_percent(spec_.reduction_factor);
  return "ASHA: " + short_number(less ? -score : score) + (less ? " is above the " : " is below the ") +
         ordinal(less ? 100 - percent : percent) + " percentile " + short_number(less ? -cutoff : cutoff) + " of " +
         counted(rung.records.size(), "trial") + " at " + time_words(spec_.time_attr, rung.milestone);
}

}  // namespace headway::control::tune
