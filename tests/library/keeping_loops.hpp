#pragma once

#include <headway/train.hpp>

#include <map>
#include <string>

namespace headway::test {

/// Loops whose checkpoints are kept, or not, in one way each, by mode.
std::map<std::string, TrainLoop> keeping_loops();

/// Gives the trainer of such a mode its storage and its `CheckpointConfig`; leaves those of other
/// modes alone.
void keep_as_asked(const std::string& mode, TrainerOptions& options);

}  // namespace headway::test
