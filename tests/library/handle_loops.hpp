#pragma once

#include <headway/train.hpp>

#include <map>
#include <string>

namespace headway::test {

/// Loops for runs that are started and waited for through a handle, by name.
std::map<std::string, TrainLoop> handle_loops();

/// Whether the mode is one of these.
bool is_handled(const std::string& mode);

/// Starts the run, does to its handle what the mode says, and returns what the run came to.
Result<TrainResult> run_by_handle(const std::string& mode, Trainer trainer);

/// The callbacks that the mode needs.
void listen_by_handle(const std::string& mode, TrainerOptions& options);

}  // namespace headway::test
