#pragma once

#include "dashboard/experiment_routes.hpp"
#include "dashboard/run_files.hpp"
#include "dashboard/seen_run.hpp"
#include "dashboard/site.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace headway::dashboard {

/// A site whose runs and experiments have folders: all routes, for whoever knows which runs there
/// are.
class RoutedSite : public Site {
 public:
  Answer answer(const Target& target) final;
  EventBoard& events() override { return events_; }

 protected:
  /// Errors: `not_found`; those of reading it.
  virtual Result<SeenRun> find_run(const std::string& id) = 0;
  virtual Result<SeenExperiment> find_experiment(const std::string& id) = 0;
  /// What /api/state answers before there is an overview.
  virtual std::string first_state() const = 0;

  RunShelf& shelf() { return shelf_; }
  /// The experiment in a folder; opened once.
  std::shared_ptr<ExperimentFile> experiment_in(const std::string& folder);
  /// A trial of an experiment by "EXPERIMENT/FOLDER". Errors: `not_found`.
  Result<SeenRun> find_trial(const std::string& id);

 private:
  EventBoard events_;
  RunShelf shelf_;
  std::mutex experiments_mutex_;
  std::map<std::string, std::shared_ptr<ExperimentFile>> experiments_;  ///< By folder.
};

}  // namespace headway::dashboard
