#pragma once

#include <headway/train.hpp>

#include <map>
#include <string>

namespace headway::test {

/// Loops that have their checkpoints validated, by mode.
std::map<std::string, TrainLoop> validation_loops();

/// Adds what the trainer of such a mode has beside its loop; leaves those of other modes alone.
void add_validation(const std::string& mode, TrainerOptions& options);

}  // namespace headway::test
