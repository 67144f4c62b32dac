#include "control/tune/median_stopping.hpp"

#include "control/tune/arguments.hpp"
#include "control/tune/decision_words.hpp"
#include "control/tune/percentile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway::control::tune {
namespace {

double mean_of(double sum, int count) { return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN(); }

}  // namespace

MedianStopping::MedianStopping(MedianStoppingSpec spec, State state)
    : spec_(std::move(spec)), state_(std::move(state)) {
  for (auto& [trial, history] : state_.histories) {
    while (history.counts.size() < std::min(history.times.size(), history.scores.size())) count(history);
  }
}

/// The report behind those that are counted.
void MedianStopping::count(History& history) const {
  const std::size_t i = history.counts.size();
  const bool counts = history.times[i] >= spec_.grace_period && !std::isnan(history.scores[i]);
  history.sums.push_back((i > 0 ? history.sums[i - 1] : 0) + (counts ? history.scores[i] : 0));
  history.counts.push_back((i > 0 ? history.counts[i - 1] : 0) + (counts ? 1 : 0));
  history.ascends = history.ascends && (i == 0 || history.times[i] >= history.times[i - 1]);
}

void MedianStopping::add(const Progress& progress) {
  History& history = state_.histories[std::to_string(progress.trial)];
  history.times.push_back(progress.time);
  history.scores.push_back(progress.score);
  count(history);
}

/// The mean of the scores from grace_period to `time`; NaN without any.
double MedianStopping::mean_until(const History& history, double time) const {
  if (history.ascends) {
    const auto reports = std::ranges::upper_bound(history.times, time) - history.times.begin();
    if (reports == 0) return std::numeric_limits<double>::quiet_NaN();
    const auto last = static_cast<std::size_t>(reports - 1);
    return mean_of(history.sums[last], history.counts[last]);
  }
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < history.times.size(); ++i) {
    const bool counts = history.times[i] >= spec_.grace_period && !std::isnan(history.scores[i]);
    if (!counts || history.times[i] > time) continue;
    sum += history.scores[i];
    ++count;
  }
  return mean_of(sum, count);
}

Result<void> validate(const MedianStoppingSpec& spec) {
  if (auto named = check_names("MedianStoppingRule", spec.time_attr, spec.metric, spec.mode); !named) return named;
  const auto refuse = [](const char* argument, double given, const char* allowed) {
    return refused_argument("MedianStoppingRule", argument, given, allowed);
  };
  const auto is_from_0 = [](double number) { return std::isfinite(number) && number >= 0; };
  if (!is_from_0(spec.grace_period)) {
    return refuse("grace_period", spec.grace_period, "a number that is not negative");
  }
  if (spec.min_samples_required < 1) {
    return refuse("min_samples_required", spec.min_samples_required, "a whole number from 1 on");
  }
  if (!is_from_0(spec.min_time_slice)) {
    return refuse("min_time_slice", spec.min_time_slice, "a number that is not negative");
  }
  return {};
}

std::vector<double> MedianStopping::means_of_others(const Progress& progress, const std::string& own) const {
  std::vector<double> means;
  for (const auto& [trial, history] : state_.histories) {
    if (trial == own || history.times.empty()) continue;
    if (history.times.back() < progress.time - spec_.min_time_slice) continue;
    const double mean = mean_until(history, progress.time);
    if (!std::isnan(mean)) means.push_back(mean);
  }
  return means;
}

Decision MedianStopping::reported(const Progress& progress, SideEffects&) {
  const std::string own = std::to_string(progress.trial);
  if (state_.judged.contains(own)) return {};
  add(progress);
  if (progress.time < spec_.grace_period) return {};
  const std::vector<double> means = means_of_others(progress, own);
  if (means.size() < static_cast<std::size_t>(spec_.min_samples_required)) return {};
  const double middle = median(means);
  double best = -std::numeric_limits<double>::infinity();
  for (const double score : state_.histories.at(own).scores) best = std::max(best, std::isnan(score) ? best : score);
  if (!(best < middle)) return {};
  state_.judged[own] = true;
  const double sign = is_less_better(spec_.mode) ? -1 : 1;
  std::string words = "median stopping: the best so far, " + short_number(sign * best) + ", is worse than the median " +
                      short_number(sign * middle) + " of " + std::to_string(means.size()) + " trials' means at " +
                      time_words(spec_.time_attr, progress.time);
  return {spec_.hard_stop ? Verdict::stop : Verdict::pause, std::move(words)};
}

void MedianStopping::completed(const Progress& progress, SideEffects&) { add(progress); }

}  // namespace headway::control::tune
