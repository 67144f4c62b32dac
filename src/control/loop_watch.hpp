#pragma once

#include "control/attempt_times.hpp"
#include "control/worker_group.hpp"
#include "core/loop_progress.hpp"
#include "core/time.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace headway::control {

/// What the training loop of the group is doing.
struct LoopView {
  std::int64_t steps = 0;               ///< Of the optimizer in this attempt.
  std::optional<double> steps_per_s;    ///< In the last seconds.
  std::optional<double> samples_per_s;  ///< The same, of all ranks together.
  std::optional<EpochPosition> epoch;   ///< Rank 0's; unset without a prepared data loader.
  std::optional<double> epoch_left_s;   ///< At the pace of the last seconds.
  double heard_ago_s = 0;               ///< Since rank 0's last word.
};
BOOST_DESCRIBE_STRUCT(LoopView, (), (steps, steps_per_s, samples_per_s, epoch, epoch_left_s, heard_ago_s))

/// One rank's optimizer steps in this attempt.
struct StepView {
  std::int64_t count = 0;
  double median_s = 0;
  /// The share of the time in collectives and reports; unset where that cannot be measured.
  std::optional<double> waiting_share;
};
BOOST_DESCRIBE_STRUCT(StepView, (), (count, median_s, waiting_share))

/// Keeps what ranks say of their loops: the pace of the last seconds, and how long steps and
/// reports have taken.
class LoopWatch {
 public:
  /// A new attempt has begun.
  void begin(int ranks, Time now);

  void progressed(int rank, const LoopProgress& progress, Time now);
  /// A rank has come to its next report, `took` after it left the one before. Its first one has
  /// what is done only once, and does not count.
  void reported(int rank, Duration took);

  std::optional<LoopView> view(Time now) const;
  std::optional<StepView> steps_of(int rank) const;

  /// For the file, if it is time to write it again: now and then, or with `always` whenever there
  /// is anything to write.
  std::optional<AttemptTimes> take_times(int attempt, const WorkerGroup& group, Time now, bool always);

  static constexpr Duration pace_of = std::chrono::seconds(10);
  static constexpr Duration times_each = std::chrono::seconds(30);

 private:
  struct Rank {
    std::deque<LoopProgress> heard;  ///< Those of the last seconds, at most `heard_max`.
    std::int64_t reports = 0;
    DurationHistogram report_times;
  };
  static constexpr std::size_t heard_max = 16;

  const Rank& at(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)); }
  std::optional<double> samples_per_s() const;

  std::vector<Rank> ranks_;
  Time heard_at_{};
  Time written_at_{};
};

/// The share of the time of a rank's steps that it waited for others; unset where that cannot be
/// measured.
std::optional<double> waiting_share(const LoopProgress& progress);

}  // namespace headway::control
