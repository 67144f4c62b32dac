#pragma once

#include <headway/result.hpp>

#include <string>

namespace headway::library {

/// Which Python runs what C++ programs need Python for: the one that HEADWAY_PYTHON names, or that
/// of the wheel which `package_folder` is a part of, at its prefix or, for a user's own packages,
/// by its version in PATH; empty: none. Errors: `invalid_argument`, for a variable that names no
/// program.
Result<std::string> python_interpreter(const std::string& package_folder);

}  // namespace headway::library
