#pragma once

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::dashboard {

/// What a request asks for: "/api/runs/3?rank=1" is {"api", "runs", "3"} with `rank`.
struct Target {
  std::vector<std::string> path;  ///< Decoded; none of them is empty.
  std::map<std::string, std::string, std::less<>> query;

  /// A parameter's text; empty when it is not there.
  const std::string& text(std::string_view name) const;
  /// Errors: `invalid_argument`, naming the parameter, for what is no number within the limits.
  Result<double> number(std::string_view name, double otherwise, double least, double most) const;
  Result<std::optional<double>> optional_number(std::string_view name) const;
};

/// Errors: `invalid_argument` when it does not begin with '/', or has what is no URL.
Result<Target> parse_target(std::string_view text);

}  // namespace headway::dashboard
