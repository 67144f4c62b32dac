#pragma once

#include <headway/train.hpp>

#include <map>
#include <string>

namespace headway::test {

/// The loops whose failures are looked at for their words and frames, by mode.
std::map<std::string, TrainLoop> message_loops();

/// What a mode has wrong in its options.
void make_wrong(const std::string& mode, TrainerOptions& options);

}  // namespace headway::test
