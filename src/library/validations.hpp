#pragma once

#include <headway/result.hpp>

#include <string>

/// The validation functions that HEADWAY_VALIDATION registered. Without JSON types: both sides of
/// the library use it.
namespace headway::library {

/// Errors: `invalid_argument` when two have one name.
Result<void> check_validation_names();

/// Calls a function with a checkpoint's directory and its arguments, and returns what it returned,
/// both as JSON text. What the function throws goes through. Throws `BadResult` when there is no
/// such function.
std::string call_validation(const std::string& name, const std::string& checkpoint, const std::string& arguments_json);

}  // namespace headway::library
