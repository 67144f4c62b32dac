#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

/// Whether training waits for data, and for which stage.
namespace headway::data {

/// What a stage did so far. Seconds are those of all its workers together.
struct StageCounters {
  std::string name = {};  ///< "read parquet", "function scale (map_batches)".
  int workers = 1;
  double busy_s = 0;
  double waiting_input_s = 0;   ///< For the stage before.
  double waiting_output_s = 0;  ///< For room in the stage behind, or for memory.
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(StageCounters, (), (name, workers, busy_s, waiting_input_s, waiting_output_s, rows, bytes))

/// The ranks together, from the first batch of each on: before it everybody waits.
struct RankCounters {
  double waiting_s = 0;  ///< For batches.
  double elapsed_s = 0;
};
BOOST_DESCRIBE_STRUCT(RankCounters, (), (waiting_s, elapsed_s))

struct Verdict {
  bool is_data_bound = false;
  double waiting_share = 0;          ///< Of the ranks' time.
  std::optional<std::string> stage;  ///< The one that the others wait for, when it is data-bound.
  std::string words;
};
BOOST_DESCRIBE_STRUCT(Verdict, (), (is_data_bound, waiting_share, stage, words))

/// Ranks that wait for more of their time than this are data-bound.
inline constexpr double data_bound_share = 0.05;

/// `stages`: the source first, the stage that feeds the ranks last.
Verdict verdict_of(std::span<const StageCounters> stages, const RankCounters& ranks);

}  // namespace headway::data
