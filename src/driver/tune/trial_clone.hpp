#pragma once

#include <headway/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headway::driver {

/// A trial that is to continue from another one's checkpoint.
struct TrialClone {
  std::string directory;        ///< The trial's folder, on any storage; it has no driver.
  std::int64_t reports = 0;     ///< Those of the trial that are known.
  std::string donor_directory;  ///< The other trial's folder.
  std::string checkpoint;       ///< The other trial's, by name.
  std::int64_t number = 0;      ///< Of the clone, in the experiment.
};

/// Makes that checkpoint the trial's newest, and returns its name there; what an earlier driver has
/// finished counts. The trial counts on from the donor's iteration and time. Blocks.
/// Errors: `not_found` when the checkpoint is gone; `unavailable`.
Result<std::string> clone_trial(const TrialClone& order);

/// Replaces a file of PBT that has these lines. Nothing depends on it.
void replace_policy_file(const std::string& path, const std::vector<std::string>& lines);

}  // namespace headway::driver
