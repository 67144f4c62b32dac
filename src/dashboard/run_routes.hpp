#pragma once

#include "dashboard/answer.hpp"
#include "dashboard/run_files.hpp"
#include "dashboard/seen_run.hpp"
#include "dashboard/target.hpp"

namespace headway::dashboard {

/// What /api/runs/ID and the paths below it answer. `rest`: the parts of the path behind the id.
Answer answer_run(const SeenRun& run, RunShelf& shelf, const std::vector<std::string>& rest, const Target& target);

/// What /api/series answers for a run.
Answer answer_series(const SeenRun& run, RunShelf& shelf, const Target& target);

}  // namespace headway::dashboard
