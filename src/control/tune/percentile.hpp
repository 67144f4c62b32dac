#pragma once

#include <span>
#include <vector>

/// Statistics as numpy computes them, bit by bit, because decisions hang on them.
namespace headway::control::tune {

/// numpy.percentile with linear interpolation: `percent` from 0 to 100; `sorted` ascends, is not
/// empty and has no NaN.
double percentile(std::span<const double> sorted, double percent);

/// numpy.median: NaN when one of the values is. `values` is not empty.
double median(std::vector<double> values);

}  // namespace headway::control::tune
