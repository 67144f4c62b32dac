#pragma once

#include "core/json.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

/// How reports compare by one metric. `path` has '/' between nested keys; `order` is "max" or
/// "min".
namespace headway {

/// The metric as a number of which more is better; nullopt when it is missing, no number, or NaN.
std::optional<double> score_of(const JsonObject& metrics, std::string_view path, std::string_view order);

/// The place of the best, the later of equals; nullopt when none has a score.
std::optional<std::size_t> best_of(const std::vector<JsonObject>& metrics, std::string_view path,
                                   std::string_view order);

}  // namespace headway
