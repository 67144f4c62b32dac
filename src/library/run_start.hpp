#pragma once

#include "driver/run_start.hpp"
#include "library/run_request.hpp"

namespace headway::library {

/// What the driver starts for a request. Errors: `invalid_argument`, `not_found`, `unavailable`.
Result<driver::RunStart> run_start_of(const RunRequest& request);

/// Where runs are stored: absolute, with what the environment says where none is given.
std::string storage_path_of(std::string path);

}  // namespace headway::library
