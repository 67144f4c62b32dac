#pragma once

#include "control/attempt.hpp"
#include "control/held_nodes.hpp"
#include "control/report_pipeline.hpp"

#include <string>

/// Who is left of a group that loses nodes, and whether they have anything left to do.
namespace headway::control {

/// Whether a rank is on the node that has not come to its end.
bool needs_node(const WorkerGroup& group, const std::string& node_id);

/// Whether a rank is left whose training function has not ended.
bool any_left(const WorkerGroup& group, const HeldNodes& nodes);

/// Whether a rank is left that trains or stores. One that waits for what a lost rank will never do
/// has nothing left to do.
bool any_at_work(const Attempt& attempt, const ReportPipeline& reports, const HeldNodes& nodes);

}  // namespace headway::control
