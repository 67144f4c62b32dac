#pragma once

#include "control/run_view.hpp"
#include "core/config.hpp"

#include <string>

namespace headway::control {

/// What a run is doing, in a line for a terminal: "starting 2 workers (1 ready) for 1.3 s", then
/// "report 12 · 3.4 s each · last 2.0 s ago · 40 s left". How much is left is known where a stop
/// condition counts reports. A loop with a prepared data loader or model shows "epoch 3 · 412/938
/// batches · 25 s left in it · 21.3 steps/s · report 12, 2.0 s ago · 2726 samples/s".
std::string status_text(const RunView& view, const RunSpec& spec);

}  // namespace headway::control
