#pragma once

#include "data/epoch_order.hpp"
#include "data/rounds.hpp"

#include <algorithm>
#include <cstdint>

namespace headway::data {

/// Calls `use(lane, begin, end)` for the rows of each lane that a part of a round has, counted from
/// the lane's first row, until it returns false. Within a round the rows of lane 0 come first.
template <class Use>
bool for_each_lane(const Rounds& rounds, int lanes, std::int64_t round, const RowRange& range, Use use) {
  const std::int64_t first = rounds.first_row(round);
  const std::int64_t last = first + rounds.rows(round);
  std::int64_t before = 0;  // Rows of the round in the lanes before.
  for (int lane = 0; lane < lanes && before < range.begin + range.rows; ++lane) {
    const std::int64_t lane_first = rows_of_lane(first, lane, lanes);
    const std::int64_t lane_rows = rows_of_lane(last, lane, lanes) - lane_first;
    const std::int64_t begin = std::max<std::int64_t>(range.begin - before, 0);
    const std::int64_t end = std::min(range.begin + range.rows - before, lane_rows);
    if (begin < end && !use(lane, lane_first + begin, lane_first + end)) return false;
    before += lane_rows;
  }
  return true;
}

}  // namespace headway::data
