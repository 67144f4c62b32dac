#pragma once

#include "dashboard/answer.hpp"
#include "dashboard/experiment_record.hpp"
#include "dashboard/target.hpp"

#include <functional>
#include <string>
#include <vector>

namespace headway::dashboard {

/// An experiment as a site knows it at one moment.
struct SeenExperiment {
  std::string id;
  std::shared_ptr<ExperimentFile> file;
  bool at_work = false;
};

/// What /api/experiments/ID and the paths below it answer. `rest`: the parts of the path behind the
/// id.
Answer answer_experiment(const SeenExperiment& experiment, const std::vector<std::string>& rest, const Target& target);

}  // namespace headway::dashboard
