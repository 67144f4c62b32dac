#pragma once

#include "core/stage_counters.hpp"

#include <chrono>
#include <string>

namespace headway::feed {
class Stream;
}

namespace headway::library {

/// Tells the driver how long this rank has waited for batches of a data set, and what it waits for
/// while a wait lasts. One a data set; it lives as long as the process.
class DataWaits {
 public:
  /// The one of this process for the data set of this name.
  static DataWaits& of(const std::string& name);

  /// The rank waits for its next batch.
  void begin();
  /// The wait lasts, and this is what the stages of the data set do.
  void lasts(const FlowCounters& flow);
  /// The rank has its batch.
  void end(const feed::Stream& stream);
  /// No more batches are wanted of this epoch.
  void end_epoch(const feed::Stream& stream);

 private:
  using Clock = std::chrono::steady_clock;

  explicit DataWaits(std::string name) : name_(std::move(name)) {}
  RankCounters waits_with(const feed::Stream& stream) const;
  FlowCounters flow_with(const feed::Stream& stream) const;
  void tell_all(const feed::Stream& stream);

  std::string name_;
  RankCounters waits_;  ///< Of the epochs before.
  FlowCounters flow_;
  Clock::time_point began_{};
  Clock::duration tell_after_{};
  Clock::time_point told_ = Clock::now();
  bool starving_ = false;
  /// Whether no batch of this epoch has come: the wait for it counts in all epochs but the first,
  /// whose is the run's start. What a stream says of its waits is from its first batch on.
  bool is_opening_ = true;
  bool has_epochs_ = false;
};

}  // namespace headway::library
