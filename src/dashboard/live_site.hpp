#pragma once

#include "dashboard/machine_use.hpp"
#include "dashboard/routed_site.hpp"
#include "driver/watch.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headway::dashboard {

/// A driver's runs, experiments, nodes and queue, as its snapshots have them. A separate thread
/// takes them, so that nothing of the driver's waits.
class LiveSite : public RoutedSite {
 public:
  /// Errors: `unavailable` when there is no thread.
  static Result<std::unique_ptr<LiveSite>> open(std::shared_ptr<driver::Watch> watch);
  ~LiveSite() override;

 private:
  /// What is shown of a run, and of which status.
  struct Shown {
    std::shared_ptr<const driver::RunStatus> status;
    std::shared_ptr<const Part> part;
  };
  struct Experiment {
    std::string id;
    std::string folder;
    std::shared_ptr<ExperimentFile> file;
  };

  explicit LiveSite(std::shared_ptr<driver::Watch> watch);

  Result<SeenRun> find_run(const std::string& id) override;
  Result<SeenExperiment> find_experiment(const std::string& id) override;
  std::string first_state() const override;

  void look();
  std::vector<Experiment> known_experiments() const;
  void show(const driver::Snapshot& snapshot);
  std::string nodes_of(const driver::Snapshot& snapshot);
  std::shared_ptr<const Part> part_of_run(const std::shared_ptr<const driver::RunStatus>& run,
                                          const driver::Snapshot& snapshot);
  SeenRun seen(const driver::RunStatus& run, const driver::Snapshot& snapshot);
  std::optional<std::string> experiment_of(const driver::RunStatus& run);

  std::shared_ptr<driver::Watch> watch_;
  const std::string host_;
  std::string driver_;  ///< JSON.
  MachineUse use_;
  std::map<std::int64_t, Shown> shown_;
  mutable std::mutex mutex_;
  std::shared_ptr<const driver::Snapshot> newest_;
  std::vector<Experiment> experiments_;
  std::map<std::string, std::optional<std::size_t>> parents_;  ///< By folder: which, if any.
  std::thread thread_;
};

}  // namespace headway::dashboard
