#pragma once

#include "driver/tune/experiment_events.hpp"

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace headway::driver {

/// From the driver's loop to the thread that serves an experiment, as FrontQueue is for a run.
/// Reports and remarks have bounds; of everything else a trial has a few events at a time.
class ExperimentQueue {
 public:
  ExperimentQueue();
  ~ExperimentQueue();
  ExperimentQueue(const ExperimentQueue&) = delete;
  ExperimentQueue& operator=(const ExperimentQueue&) = delete;

  /// Readable while there is something to take.
  int event_fd() const { return event_fd_; }
  /// Of notices and warnings 1000 wait at most; those that come after are left out, and one line
  /// says how many. False when so many reports wait that their trials should wait for `take`.
  bool push(ExperimentEvent event);
  /// All there is, in order. `was_full` says that trials wait.
  std::vector<ExperimentEvent> take(bool& was_full);
  /// Where not each report is wanted, nobody is woken for one, and the newest of a trial's reports
  /// that wait stands for all of them. From the start each is.
  void take_each_report(bool each);

  static constexpr std::size_t reports_max = 1000;

 private:
  static constexpr std::size_t remarks_max = 1000;

  bool replaces_report(ExperimentEvent& event);

  std::mutex mutex_;
  int event_fd_ = -1;
  std::vector<ExperimentEvent> events_;
  std::size_t reports_ = 0;
  std::size_t remarks_ = 0;  ///< With those that were left out.
  bool full_ = false;
  bool woken_ = false;
  bool each_report_ = true;
  std::unordered_map<std::string, std::size_t> newest_;  ///< By trial, its report's place.
};

}  // namespace headway::driver
