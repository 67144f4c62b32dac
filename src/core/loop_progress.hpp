#pragma once

#include "core/duration_histogram.hpp"
#include "core/json.hpp"

#include <cstdint>
#include <optional>

/// What a rank's training loop has done, as far as its prepared data loader, model and optimizer
/// show it.
namespace headway {

/// How long something took that was done again and again. In seconds.
struct Times {
  std::int64_t count = 0;
  double total_s = 0;
  double median_s = 0;
  double p95_s = 0;
  double max_s = 0;
};
BOOST_DESCRIBE_STRUCT(Times, (), (count, total_s, median_s, p95_s, max_s))

inline Times times_of(const DurationHistogram& durations) {
  return {durations.count(), to_seconds(durations.total()), to_seconds(durations.quantile(0.5)),
          to_seconds(durations.quantile(0.95)), to_seconds(durations.longest())};
}

/// Where a loop stands in a pass over its data.
struct EpochPosition {
  std::int64_t epoch = 0;  ///< As `set_epoch` named it, else counted from 0.
  std::int64_t batch = 0;  ///< Batches done.
  std::optional<std::int64_t> batches;
};
BOOST_DESCRIBE_STRUCT(EpochPosition, (), (epoch, batch, batches))

/// All counts begin with the attempt.
struct LoopProgress {
  double at_s = 0;           ///< Seconds from the rank's first optimizer step to this moment.
  std::int64_t steps = 0;    ///< Of the optimizer.
  std::int64_t batches = 0;  ///< Of the data loader that is trained with.
  std::optional<std::int64_t> samples;
  std::optional<EpochPosition> epoch;
  Times step_times;  ///< From optimizer step to optimizer step.
  /// Of their sum: in reports and barriers, and in collectives where these can be measured.
  double waited_s = 0;
  bool sees_collectives = false;  ///< Whether the rank can measure them.
  /// Of the steps' sum: in forward passes up to the first gradient, in backward passes up to the
  /// last one, by those of them that were measured. Unset: not known.
  std::optional<double> forward_s = {};
  std::optional<double> backward_s = {};
};
BOOST_DESCRIBE_STRUCT(LoopProgress, (),
                      (at_s, steps, batches, samples, epoch, step_times, waited_s, sees_collectives, forward_s,
                       backward_s))

}  // namespace headway
