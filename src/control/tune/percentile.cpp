#include "control/tune/percentile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway::control::tune {

// R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50
// (1996), definition 7; the interpolation starts from the nearer neighbour, as numpy's does.
double percentile(std::span<const double> sorted, double percent) {
  const double place = static_cast<double>(sorted.size() - 1) * (percent / 100);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - std::floor(place);
  const double step = sorted[above] - sorted[below];
  return part >= 0.5 ? sorted[above] - (step * (1 - part)) : sorted[below] + (step * part);
}

double median(std::vector<double> values) {
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace headway::control::tune
