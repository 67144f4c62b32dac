#include "dashboard/importances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

namespace headway::dashboard {
namespace {

constexpr int cells_of_numbers = 50;
constexpr std::size_t trials_min = 10;
constexpr double best_share = 0.1;
constexpr std::size_t best_min = 2;
constexpr double nothing = 1e-12;

double below(double place, double mean, double width) {
  return 0.5 * std::erfc((mean - place) / (width * std::numbers::sqrt2));
}

/// A normal distribution over the cells, cut at their ends.
void add_normal(std::vector<double>& density, double mean, double width, double weight) {
  const auto cells = static_cast<double>(density.size());
  const double inside = below(cells - 0.5, mean, width) - below(-0.5, mean, width);
  for (std::size_t cell = 0; cell < density.size(); ++cell) {
    const double at = static_cast<double>(cell);
    density[cell] += weight * (below(at + 0.5, mean, width) - below(at - 0.5, mean, width)) / std::max(inside, nothing);
  }
}

/// Scott's rule.
double width_of(std::vector<int> places) {
  std::ranges::sort(places);
  const auto count = static_cast<double>(places.size());
  const double mean = std::accumulate(places.begin(), places.end(), 0.0) / count;
  double squares = 0;
  for (const int place : places) squares += (place - mean) * (place - mean);
  const double deviation = std::sqrt(squares / std::max(1.0, count - 1));
  const auto quartile = [&](double share) { return places[static_cast<std::size_t>(share * (count - 1))]; };
  const double between = (quartile(0.75) - quartile(0.25)) / 1.34;
  constexpr double least = 0.5 / 1.64;
  return std::max(1.059 * std::min(between, deviation) * std::pow(count, -0.2), least);
}

std::vector<double> density_of(const std::vector<int>& places, int cells, bool ordered) {
  std::vector<double> density(static_cast<std::size_t>(cells), 0.0);
  // One more, which may be anywhere.
  const double weight = 1.0 / (static_cast<double>(places.size()) + 1);
  if (!ordered) {
    for (const int place : places) density[static_cast<std::size_t>(place)] += weight;
    for (double& cell : density) cell += weight / cells;
    return density;
  }
  const double width = width_of(places);
  std::map<int, int> counts;
  for (const int place : places) ++counts[place];
  for (const auto& [place, count] : counts) add_normal(density, place, width, weight * count);
  add_normal(density, 0.5 * (cells - 1), cells, weight);
  return density;
}

/// The cell of each trial that has the parameter; unset for the others.
struct Placed {
  std::vector<std::optional<int>> places;
  int cells = 0;
  bool ordered = false;
};

Placed place_values(const std::vector<const Json*>& values) {
  Placed placed;
  placed.places.resize(values.size());
  const auto is_number = [](const Json* value) {
    return value->is_number() && std::isfinite(value->to_number<double>());
  };
  const bool numbers =
      std::ranges::all_of(values, [&](const Json* value) { return value == nullptr || is_number(value); });
  if (!numbers) {
    std::map<std::string, int> cells;
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (values[at] != nullptr)
        placed.places[at] = cells.try_emplace(json_text(*values[at]), cells.size()).first->second;
    }
    placed.cells = static_cast<int>(cells.size());
    return placed;
  }
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Json* value : values) {
    if (value == nullptr) continue;
    low = std::min(low, value->to_number<double>());
    high = std::max(high, value->to_number<double>());
  }
  if (!(high > low)) return placed;
  constexpr double wide = 100;
  const bool logarithmic = low > 0 && high / low >= wide;
  const auto place = [&](double value) { return logarithmic ? std::log(value) : value; };
  placed.ordered = true;
  placed.cells = cells_of_numbers;
  const double step = (place(high) - place(low)) / (cells_of_numbers - 1);
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (values[at] == nullptr) continue;
    placed.places[at] = static_cast<int>(std::lround((place(values[at]->to_number<double>()) - place(low)) / step));
  }
  return placed;
}

}  // namespace

double divergence(const std::vector<int>& best, const std::vector<int>& all, int cells, bool ordered) {
  const std::vector<double> of_best = density_of(best, cells, ordered);
  const std::vector<double> of_all = density_of(all, cells, ordered);
  double sum = 0;
  for (std::size_t cell = 0; cell < of_all.size(); ++cell) {
    const double ratio = (of_best[cell] + nothing) / (of_all[cell] + nothing) - 1;
    sum += of_all[cell] * ratio * ratio;
  }
  return sum;
}

Importances importances_of(const ExperimentRecord& record) {
  Importances found;
  found.metric = record.controller().spec().metric.value_or("");
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t trial = 0; trial < record.trials().size(); ++trial) {
    if (const auto value = record.value_of(trial)) ranked.emplace_back(record.minimizes() ? *value : -*value, trial);
  }
  std::ranges::sort(ranked);
  found.trials = static_cast<std::int64_t>(ranked.size());
  if (ranked.size() < trials_min) {
    found.why_none =
        std::to_string(trials_min) + " trials with a value are needed, there are " + std::to_string(ranked.size());
    return found;
  }
  const auto best =
      std::max(best_min, static_cast<std::size_t>(std::ceil(best_share * static_cast<double>(ranked.size()))));
  found.best = static_cast<std::int64_t>(best);
  std::map<std::string, std::vector<const Json*>> values;
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
    for (const auto& [name, value] : record.of(ranked[rank].second).config) {
      std::vector<const Json*>& all = values[std::string(name)];
      all.resize(ranked.size(), nullptr);
      all[rank] = &value;
    }
  }
  double sum = 0;
  for (const auto& [name, of_trials] : values) {
    const Placed placed = place_values(of_trials);
    std::vector<int> all;
    std::vector<int> of_best;
    for (std::size_t rank = 0; rank < placed.places.size(); ++rank) {
      if (!placed.places[rank]) continue;
      all.push_back(*placed.places[rank]);
      if (rank < best) of_best.push_back(*placed.places[rank]);
    }
    // One value alone explains nothing.
    const bool varies = placed.cells > 1 && !of_best.empty();
    found.parameters.push_back({name, varies ? divergence(of_best, all, placed.cells, placed.ordered) : 0});
    sum += found.parameters.back().share;
  }
  for (Importance& parameter : found.parameters) parameter.share = sum > 0 ? parameter.share / sum : 0;
  std::ranges::stable_sort(found.parameters, std::greater(), &Importance::share);
  return found;
}

}  // namespace headway::dashboard
