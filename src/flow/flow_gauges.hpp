#pragma once

#include "core/stage_counters.hpp"
#include "flow/budget.hpp"
#include "flow/stage.hpp"
#include "flow/stage_gauge.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Where the time of a flow's threads goes. It costs a look at the clock for each block of rows
/// that goes from one stage to another.
namespace headway::flow {

class FlowGauges;

/// The stages that a thread runs, the source first.
using StagePath = std::vector<std::shared_ptr<StageGauge>>;

/// The time of one thread. While the thread is in one stage of its path, those before wait for
/// their output, and those behind wait for their input. One thread moves it; any may read the
/// gauges.
class ThreadClock {
 public:
  /// Among the stages of the path: in one, or before one, where rows for it are awaited.
  struct Place {
    std::size_t stage = 0;
    bool inside = false;
    bool works = false;  ///< Else the time inside counts for the others alone.
  };
  static Place in(std::size_t stage) { return {stage, true, true}; }
  static Place idle_in(std::size_t stage) { return {stage, true, false}; }
  static Place before(std::size_t stage) { return {stage, false, false}; }

  /// `flow` outlives it.
  ThreadClock(FlowGauges& flow, StagePath path);
  ~ThreadClock();
  ThreadClock(const ThreadClock&) = delete;
  ThreadClock& operator=(const ThreadClock&) = delete;

  /// Returns where it was.
  Place go(Place place);
  /// Adds the time until now to the gauges.
  void settle();
  /// Another stage behind those that there are: its number in the path.
  std::size_t add(std::shared_ptr<StageGauge> gauge);
  std::size_t stages() const { return path_.size(); }
  StageGauge& gauge(std::size_t stage) const { return *path_[stage]; }

 private:
  void charge();

  FlowGauges& flow_;
  std::mutex mutex_;
  StagePath path_;
  Place place_ = before(0);
  SteadyTime since_ = std::chrono::steady_clock::now();
};

/// In a place of its thread as long as it lives. Without a clock it does nothing.
class Stay {
 public:
  Stay(ThreadClock* clock, ThreadClock::Place place) : clock_(clock) {
    if (clock_ != nullptr) before_ = clock_->go(place);
  }
  ~Stay() {
    if (clock_ != nullptr) clock_->go(before_);
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

 private:
  ThreadClock* const clock_;
  ThreadClock::Place before_;
};

/// The gauges of all stages of a flow. Any thread.
class FlowGauges {
 public:
  explicit FlowGauges(Budget& budget) : budget_(budget) {}

  /// Stages are read in the order in which they were added: the source first.
  std::shared_ptr<StageGauge> add(std::string name, std::function<int()> workers = nullptr);
  /// A number for threads that are not those of other stages. Those that pull have 0.
  int next_pool();

  /// The clock of the thread that pulls, for that thread. It runs from the first call on, until
  /// `stop_pulling`, with which the flow's time ends.
  ThreadClock& puller();
  void stop_pulling();

  /// The stages are made again: what they did does not count. By the thread that pulls.
  void begin_anew();

  /// The flow waits for the client of this rank, which has taken no batch; unset: no more.
  void wait_for(std::optional<int> rank);
  /// The clients of a flow that was begun before them have come: it waits for them from now on.
  void clients_came();

  FlowCounters read() const;

 private:
  friend class ThreadClock;

  Budget& budget_;
  const SteadyTime began_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  StagePath stages_;
  std::set<ThreadClock*> clocks_;
  std::unique_ptr<ThreadClock> puller_;
  int pools_ = 0;
  std::optional<SteadyTime> ended_;
  std::optional<int> awaited_;
  SteadyTime awaited_since_{};
};

/// Counts a stage that the pulling thread runs.
std::unique_ptr<Stage> gauged(std::unique_ptr<Stage> stage, std::shared_ptr<FlowGauges> flow, std::string name);

/// The same for a stage whose threads are counted: the pulling thread waits for it.
std::unique_ptr<Stage> awaited(std::unique_ptr<Stage> stage, std::shared_ptr<FlowGauges> flow);

}  // namespace headway::flow
