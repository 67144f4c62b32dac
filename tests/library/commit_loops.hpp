#pragma once

#include <headway/train.hpp>

#include <map>
#include <string>

namespace headway::test {

inline constexpr int committed_epochs = 5;

/// A loop whose processes are killed in the middle of commits, by mode.
std::map<std::string, TrainLoop> commit_loops();

/// The environment's KEEP is `num_to_keep` in that mode.
void keep_few(const std::string& mode, TrainerOptions& options);

}  // namespace headway::test
