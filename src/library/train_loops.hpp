#pragma once

#include <headway/result.hpp>

#include <string>

/// The training loops that HEADWAY_TRAIN_LOOP registered. Without JSON types: both sides of the
/// library use it.
namespace headway::library {

/// Errors: `invalid_argument` when two have one name.
Result<void> check_loop_names();

/// Calls a loop with its configuration and returns what it returned, both as JSON text. What the
/// loop throws goes through. Throws `BadResult` when there is no such loop.
std::string call_loop(const std::string& name, const std::string& config_json);

}  // namespace headway::library
