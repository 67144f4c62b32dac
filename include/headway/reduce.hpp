#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

namespace headway {

/// How the ranks' values of a metric become one.
enum class Reduce { mean, sum, min, max };

/// Which metrics of a report are reduced over the ranks: all numbers in one way, or those that are
/// named ('/' between nested keys), each in its way. Not given: rank 0's count.
///
///     headway::report({{"loss", loss}}, std::nullopt, {.reduce = headway::Reduce::mean});
///     headway::report({{"loss", loss}, {"samples", n}}, std::nullopt,
///                     {.reduce = std::map<std::string, headway::Reduce>{{"samples", headway::Reduce::sum}}});
using Reduction = std::optional<std::variant<Reduce, std::map<std::string, Reduce>>>;

}  // namespace headway
