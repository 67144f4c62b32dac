#pragma once

#include "dashboard/run_record.hpp"
#include "dashboard/series.hpp"

#include <optional>
#include <string>

namespace headway::dashboard {

/// Why a run's last attempt began, from where, and what that cost, as far as its files tell:
/// "restarted once: rank 1 was killed by SIGKILL, after report 130; resumed from checkpoint_000005,
/// the work of 10 reports was lost". Unset for a run of one attempt.
std::optional<std::string> restart_words(const RunRecord& record, const Series& series);

}  // namespace headway::dashboard
