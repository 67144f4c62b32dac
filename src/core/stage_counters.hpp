#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the stages of a data set's flow did, and how long ranks waited for it.
namespace headway {

/// What a stage did so far. Seconds are those of all its threads together.
struct StageCounters {
  std::string name = {};  ///< "read parquet", "map_batches(scale)".
  int workers = 1;
  double busy_s = 0;
  double waiting_input_s = 0;   ///< For the stages before.
  double waiting_output_s = 0;  ///< For those behind, for the consumer, or for memory.
  std::int64_t rows = 0;        ///< That it has passed on.
  std::int64_t bytes = 0;
  double waiting_memory_s = 0;  ///< Of `waiting_output_s`: the budget had nothing left.
  std::int64_t held_bytes = 0;  ///< Of the budget, now.
  /// The stages of one pool share its threads: while one of them works, the others wait.
  int pool = 0;
  int at_work = 0;      ///< Threads that are in it at this moment.
  double silent_s = 0;  ///< Since its last rows; before the first ones, since the flow began.
};
BOOST_DESCRIBE_STRUCT(StageCounters, (),
                      (name, workers, busy_s, waiting_input_s, waiting_output_s, rows, bytes, waiting_memory_s,
                       held_bytes, pool, at_work, silent_s))

/// One epoch of a data set, or a part of it, as its stages have seen it.
struct FlowCounters {
  double elapsed_s = 0;
  std::int64_t rows = 0;  ///< That the last stage has passed on.
  std::int64_t budget_bytes = 0;
  std::int64_t held_bytes = 0;      ///< Of the budget, by all flows of the data process.
  std::int64_t held_bytes_max = 0;  ///< The most of it so far.
  std::vector<StageCounters> stages;
  std::vector<int> absent;     ///< The ranks that have not begun the epoch: it waits for them.
  std::optional<int> awaited;  ///< The rank that has taken none of the batches that wait for it …
  double awaited_for_s = 0;    ///< … for so long.
};
BOOST_DESCRIBE_STRUCT(FlowCounters, (),
                      (elapsed_s, rows, budget_bytes, held_bytes, held_bytes_max, stages, absent, awaited,
                       awaited_for_s))

/// The ranks together, from the first batch of each on: before it everybody waits.
struct RankCounters {
  double waiting_s = 0;  ///< For batches.
  double elapsed_s = 0;
};
BOOST_DESCRIBE_STRUCT(RankCounters, (), (waiting_s, elapsed_s))

/// What a rank says of one of its data sets.
struct DataProgress {
  std::string dataset;
  RankCounters waits;  ///< In this attempt.
  FlowCounters flow;   ///< Of this attempt's epochs together; of the one that it waits for.
  /// For so long it has been waiting for a batch; unset: it is not, and the counts are new.
  std::optional<double> starving_s;
};
BOOST_DESCRIBE_STRUCT(DataProgress, (), (dataset, waits, flow, starving_s))

}  // namespace headway
