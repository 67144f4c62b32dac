#pragma once

#include "control/run_outcome.hpp"

#include <string>

namespace headway::driver {

/// A report as a line of result.json: the user's metrics, and beside them the automatic ones. `now` is in seconds since 1970.
JsonObject result_line(const control::ReportLine& line, const std::string& trial_id, double now);

}  // namespace headway::driver
