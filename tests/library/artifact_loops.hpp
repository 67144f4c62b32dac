#pragma once

#include <headway/train.hpp>

#include <map>
#include <string>

namespace headway::test {

/// Loops that write into the run's working directory, by mode.
std::map<std::string, TrainLoop> artifact_loops();

/// Gives the trainer of such a mode its `SyncConfig`; leaves those of other modes alone.
void add_sync(const std::string& mode, TrainerOptions& options);

}  // namespace headway::test
