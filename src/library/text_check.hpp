#pragma once

#include <headway/json.hpp>
#include <headway/result.hpp>

#include <string>

namespace headway::library {

/// Whether all text in `value`, keys too, is UTF-8, without which it can't be sent or stored.
/// Errors: `invalid_argument`, which names the place, such as `metrics["name"]`, where `argument`
/// is "metrics".
Result<void> check_text(const std::string& argument, const Json& value);

}  // namespace headway::library
