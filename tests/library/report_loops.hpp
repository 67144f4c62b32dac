#pragma once

#include <headway/train.hpp>

#include <map>
#include <string>

namespace headway::test {

/// A directory of this rank's own, beside the run's folder.
std::string folder_of_rank();

/// Loops that report checkpoints in one way each, by name.
std::map<std::string, TrainLoop> report_loops();

}  // namespace headway::test
