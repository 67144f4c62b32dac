#pragma once

#include "dashboard/dashboard.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace headway::library {

/// The port that `InitOptions::dashboard` asks for, else HEADWAY_DASHBOARD: unset for no dashboard,
/// 0 for any free port. Errors: `invalid_argument`.
Result<std::optional<std::uint16_t>> wanted_dashboard(const std::optional<int>& option);

/// Shows the runs of this program there, and says where. Errors: `unavailable`.
Result<std::unique_ptr<dashboard::Dashboard>> open_dashboard(driver::Runtime& runtime, std::uint16_t port);

}  // namespace headway::library
