#pragma once

#include "dashboard/routed_site.hpp"
#include "driver/watch.hpp"

#include <chrono>
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
  std::string nodes_now(const std::vector<engine::NodeView>& nodes);
  std::vector<Experiment> known_experiments() const;
  void show(const driver::Snapshot& snapshot);
  std::shared_ptr<const Part> part_of_run(const std::shared_ptr<const driver::RunStatus>& run,
                                          const driver::Snapshot& snapshot);
  SeenRun seen(const driver::RunStatus& run, const driver::Snapshot& snapshot);
  std::optional<std::string> experiment_of(const driver::RunStatus& run);

  std::shared_ptr<driver::Watch> watch_;
  std::string driver_;  ///< JSON.
  std::map<std::int64_t, Shown> shown_;
  std::map<std::string, std::optional<node::Use>> uses_;  ///< Of many nodes, by their ids.
  std::chrono::steady_clock::time_point uses_at_{};
  mutable std::mutex mutex_;
  std::shared_ptr<const driver::Snapshot> newest_;
  std::vector<Experiment> experiments_;
  std::map<std::string, std::optional<std::size_t>> parents_;  ///< By folder: which, if any.
  std::thread thread_;
};

}  // namespace headway::dashboard
