#pragma once

#include "dashboard/routed_site.hpp"
#include "dashboard/run_summary.hpp"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace headway::dashboard {

/// Runs and experiments of a folder, by their files: one run, one experiment, or all that lie in
/// the folder. They may be at work meanwhile, in any process: a thread looks every two seconds for
/// what has changed, on remote storage (where the folder must be a run's) every ten.
class FileSite : public RoutedSite {
 public:
  /// Errors: `not_found`, naming `argument`, when there is no run and no experiment; those of
  /// reading it; `unavailable` when there is no thread.
  static Result<std::unique_ptr<FileSite>> open(const std::string& argument, std::string location);
  ~FileSite() override;

 private:
  struct Shown {
    std::string stamp;  ///< Of its files: the same as long as nothing has changed.
    std::shared_ptr<const Part> part;
    bool has_history = false;  ///< It was looked for.
  };

  explicit FileSite(std::string location) : location_(std::move(location)) {}

  Result<SeenRun> find_run(const std::string& id) override;
  Result<SeenExperiment> find_experiment(const std::string& id) override;
  std::string first_state() const override;

  Result<void> find(const std::string& argument);
  void look();
  void show(bool with_histories);
  std::shared_ptr<const Part> part_of_run(const std::string& folder, const std::string& id, bool with_history);
  std::string folder_of(const std::string& id) const;

  std::string location_;
  enum class Kind { run, experiment, folder } kind_ = Kind::folder;
  std::map<std::string, Shown> shown_;  ///< By id. Used by the one thread that shows.
  std::mutex mutex_;
  std::condition_variable ended_;
  bool closing_ = false;
  std::thread thread_;
};

/// A run in the page's list, by its files alone. Errors: those of run_in.
Result<RunSummary> file_summary(const std::string& folder, const std::string& id, bool with_history);

/// The last report of a run, from the end of its result.json; empty when there is none.
JsonObject last_report_in(const std::string& folder);

}  // namespace headway::dashboard
