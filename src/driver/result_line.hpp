#pragma once

#include "core/report_line.hpp"

namespace headway::driver {

/// A report as a line of result.json: the user's metrics, and beside them the automatic ones. `now`
/// is in seconds since 1970.
JsonObject result_line(const ReportLine& line, double now);

}  // namespace headway::driver
