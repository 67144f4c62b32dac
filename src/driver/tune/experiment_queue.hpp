#pragma once

#include "driver/tune/experiment_events.hpp"

#include <mutex>
#include <vector>

namespace headway::driver {

/// From the driver's loop to the thread that serves an experiment, as FrontQueue is for a run.
class ExperimentQueue {
 public:
  ExperimentQueue();
  ~ExperimentQueue();
  ExperimentQueue(const ExperimentQueue&) = delete;
  ExperimentQueue& operator=(const ExperimentQueue&) = delete;

  /// Readable while there is something to take.
  int event_fd() const { return event_fd_; }
  void push(ExperimentEvent event);
  /// All there is, in order.
  std::vector<ExperimentEvent> take();

 private:
  std::mutex mutex_;
  int event_fd_ = -1;
  std::vector<ExperimentEvent> events_;
};

}  // namespace headway::driver
