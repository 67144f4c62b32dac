#pragma once

#include "dashboard/run_summary.hpp"
#include "dashboard/site.hpp"
#include "driver/watch.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace headway::dashboard {

/// A driver's runs, nodes and queue, as its snapshots have them. A separate thread takes them,
/// so that nothing of the driver's waits.
class LiveSite : public Site {
 public:
  /// Errors: `unavailable` when there is no thread.
  static Result<std::unique_ptr<LiveSite>> open(std::shared_ptr<driver::Watch> watch);
  ~LiveSite() override;

  Answer answer(const Target& target) override;
  EventBoard& events() override { return events_; }

 private:
  explicit LiveSite(std::shared_ptr<driver::Watch> watch);

  void look();
  void show(const driver::Snapshot& snapshot);
  std::shared_ptr<const Part> part_of_run(const std::shared_ptr<const driver::RunStatus>& run,
                                          const driver::Snapshot& snapshot);
  Answer answer_run(const Target& target);
  std::shared_ptr<const driver::RunStatus> find(const std::string& id) const;

  std::shared_ptr<driver::Watch> watch_;
  EventBoard events_;
  std::string driver_;  ///< JSON.
  mutable std::mutex mutex_;
  std::shared_ptr<const driver::Snapshot> newest_;
  std::thread thread_;
};

}  // namespace headway::dashboard
