#pragma once

#include "core/duration_histogram.hpp"
#include "core/loop_progress.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace headway::worker {

/// A data loader as it begins a pass.
struct LoaderPass {
  std::int64_t epoch = 0;
  std::optional<std::int64_t> batches;
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> samples;  ///< Of the whole pass.
};

/// Counts what a training loop does: optimizer steps, and the batches of the loader that they are
/// made with. Costs less than a microsecond a call, and asks no clock by itself. Any thread.
class StepClock {
 public:
  StepClock(int rank, int world_size);

  /// `loader` has begun a pass …
  void begin_pass(std::int64_t loader, const LoaderPass& pass);
  /// … gives its next batch to the loop, which has done the one before …
  void next_batch(std::int64_t loader);
  /// … and has come to its end.
  void end_pass(std::int64_t loader);

  /// An optimizer has made its step. A loop with several optimizers has made a step when one of
  /// them comes again. Returns whether `take` is due.
  bool stepped(std::int64_t optimizer, Time now);

  /// The rank was in a report or a barrier …
  void waited(Duration duration);
  /// … or in the collectives of a backward pass.
  void in_collectives(Duration duration);
  /// A model was prepared whose collectives `in_collectives` hears of, or of none of them.
  /// They count as seen while that holds for all models, and each step has some.
  void see_collectives(bool visible);

  /// Seconds that a step's forward passes took up to the first gradient, and its backward passes up
  /// to the last one: of the steps before the first call, and of those after each. Unset: that is
  /// not known, and never will be.
  void passes_took(std::optional<double> forward_s, std::optional<double> backward_s);
  /// How many steps there were.
  std::int64_t steps();

  /// All so far, for the driver; none when nothing is new since the last one.
  std::optional<LoopProgress> take(Time now);

  /// Rank 0 is taken from each second, for the display; the others so that the driver hears of at
  /// most a hundred ranks a second.
  static Duration interval(int rank, int world_size);

 private:
  struct Pass {
    LoaderPass loader;
    std::int64_t begun = 0;
    std::int64_t done = 0;
  };
  static constexpr std::size_t loaders_max = 64;
  static constexpr std::size_t optimizers_max = 4096;

  void batch_done(std::int64_t loader, Pass& pass);

  const Duration interval_;
  std::mutex mutex_;
  std::map<std::int64_t, Pass> passes_;  ///< The newest of each loader.
  std::optional<std::int64_t> current_;  ///< The loader that gave the last batch.
  std::optional<std::int64_t> trained_;  ///< That of the last step's batch.
  std::int64_t batches_ = 0;
  std::int64_t samples_ = 0;
  bool knows_samples_ = true;
  std::set<std::int64_t> optimizers_;  ///< Those that have stepped since the last step began.
  std::int64_t steps_ = 0;
  Time first_{};
  Time last_{};
  Time taken_at_{};
  std::int64_t taken_steps_ = 0;
  DurationHistogram durations_;
  Duration waited_{};        ///< Of `durations_`.
  Duration waited_since_{};  ///< Since the last step.
  bool any_since_ = false;   ///< `in_collectives` was called since the last step.
  bool sees_ = false;
  bool blind_ = false;
  struct Passes {
    double forward_s = 0;
    double backward_s = 0;
  };
  std::optional<Passes> each_;  ///< Of a step.
  Passes in_passes_;            ///< Of `durations_`.
  bool passes_unknown_ = false;
};

}  // namespace headway::worker
