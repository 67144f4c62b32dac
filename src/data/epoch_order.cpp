#include "data/epoch_order.hpp"

#include "data/exact_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace headway::data {

int lanes_for(int machines_max) {
  if (machines_max <= 2) return std::max(machines_max, 1);
  if (machines_max == 4) return 4;
  int lanes = 6;
  while (lanes < machines_max) lanes *= 2;
  return lanes;
}

EpochOrder::EpochOrder(const OrderConfig& config, std::span<const UnitSize> units) : config_(config) {
  for (const UnitSize& unit : units) {
    knows_rows_ = knows_rows_ && unit.rows >= 0;
    rows_ += unit.rows;
  }
  if (!knows_rows_) rows_ = -1;
  std::vector<std::uint32_t> order(units.size());
  std::iota(order.begin(), order.end(), 0U);
  if (config_.permutes_units) {
    RandomStream stream(config_.seed, config_.epoch, Purpose::units, 0);
    shuffle(order, stream);
  }
  const int lanes = knows_rows_ ? std::max(config_.lanes, 1) : 1;
  std::size_t next = 0;
  std::int64_t taken = 0;
  config_.lanes = lanes;
  for (int lane = 0; lane < lanes; ++lane) {
    lane_windows_.push_back(static_cast<std::uint32_t>(windows_.size()));
    add_lane(lane, units, order, next, taken);
  }
  lane_windows_.push_back(static_cast<std::uint32_t>(windows_.size()));
}

/// From row `taken` of the unit that comes `next`.
void EpochOrder::add_lane(int lane, std::span<const UnitSize> units, std::span<const std::uint32_t> order,
                          std::size_t& next, std::int64_t& taken) {
  std::int64_t wanted =
      knows_rows_ ? rows_of_lane(rows_, lane, config_.lanes) : std::numeric_limits<std::int64_t>::max();
  while (next < order.size() && wanted > 0) {
    const std::uint32_t unit = order[next];
    const UnitSize& size = units[unit];
    const std::int64_t end = size.rows < 0 ? -1 : std::min(size.rows, taken + wanted);
    if (size.rows != 0) add_part(lane, {unit, 0, taken, end}, size);
    if (knows_rows_) wanted -= end - taken;
    const bool is_used_up = end == size.rows;
    taken = is_used_up ? 0 : end;
    if (is_used_up) ++next;
  }
}

void EpochOrder::add_part(int lane, const UnitPart& part, const UnitSize& size) {
  const bool is_whole = part.begin == 0 && part.end == size.rows;
  const std::int64_t rows = part.end < 0 ? -1 : part.end - part.begin;
  const std::int64_t bytes = is_whole ? size.bytes : size.bytes / size.rows * rows;
  const bool is_first = windows_.size() == lane_windows_.back();
  if (is_first || !config_.permutes_rows || windows_.back().bytes + bytes > config_.window_bytes) {
    Window window;
    window.lane = static_cast<std::uint32_t>(lane);
    window.number = static_cast<std::uint32_t>(windows_.size()) - lane_windows_.back();
    window.first_part = static_cast<std::uint32_t>(parts_.size());
    window.begin = is_first || !knows_rows_ ? 0 : windows_.back().begin + windows_.back().rows;
    window.rows = knows_rows_ ? 0 : -1;
    windows_.push_back(window);
  }
  Window& window = windows_.back();
  ++window.part_count;
  window.bytes += bytes;
  if (knows_rows_) window.rows += rows;
  parts_.push_back(part);
  parts_.back().window = static_cast<std::uint32_t>(windows_.size()) - 1;
}

std::uint32_t EpochOrder::window_at(int lane, std::int64_t row) const {
  const auto first = windows_.begin() + first_window(lane);
  const auto end = windows_.begin() + end_window(lane);
  const auto after =
      std::upper_bound(first, end, row, [](std::int64_t at, const Window& each) { return at < each.begin; });
  return static_cast<std::uint32_t>(after - windows_.begin()) - 1;
}

void EpochOrder::row_order(std::uint32_t window, std::int64_t rows, std::vector<std::uint32_t>& to) const {
  RandomStream stream = row_stream(window);
  row_order(window, rows, to, stream);
}

void EpochOrder::row_order(std::uint32_t window, std::int64_t rows, std::vector<std::uint32_t>& to,
                           RandomStream& stream) const {
  to.resize(static_cast<std::size_t>(rows));
  const Window& shuffled = windows_[window];
  if (config_.permutes_rows && config_.window_bytes == whole_epoch) {
    exact_order(key_start(config_.seed, config_.epoch, shuffled.number, shuffled.lane), to);
    return;
  }
  std::iota(to.begin(), to.end(), 0U);
  if (config_.permutes_rows) shuffle(to, stream);
}

RandomStream EpochOrder::row_stream(std::uint32_t window) const {
  const Window& shuffled = windows_[window];
  return {config_.seed, config_.epoch, Purpose::rows, shuffled.number, shuffled.lane};
}

}  // namespace headway::data
