#pragma once

#include <headway/result.hpp>

#include <optional>
#include <string>

/// The checks that all schedulers' arguments have in common.
namespace headway::control::tune {

/// `invalid_argument`: "ASHAScheduler: max_t is 0; allowed: a number above 0".
Error refused_argument(const std::string& scheduler, const std::string& argument, double given,
                       const std::string& allowed);

/// The attribute of time and the metric are named, and the mode is "min" or "max".
Result<void> check_names(const std::string& scheduler, const std::string& time_attr,
                         const std::optional<std::string>& metric, const std::optional<std::string>& mode);

inline bool is_less_better(const std::optional<std::string>& mode) { return mode == "min"; }

}  // namespace headway::control::tune
