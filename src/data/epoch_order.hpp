#pragma once

#include "data/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

/// In which order the rows of an epoch come: a function of the units and of this config, and of
/// nothing else (no world size, threads, timing). Units are permuted; they are cut into lanes of
/// equal rows; runs of consecutive units of a lane are windows, and the rows of a window are
/// permuted.
namespace headway::data {

/// A unit as far as the order depends on it. Units have numbers in source order.
struct UnitSize {
  std::int64_t rows = -1;  ///< After all operations of the plan; -1: not known before it was read.
  /// How much of a window it takes: decoded bytes as the source's metadata say; never what was
  /// measured, because that may differ the next time.
  std::int64_t bytes = 0;
};

/// 32 to 64 MiB: larger windows take more of the CPU's caches than they improve the order.
inline constexpr std::int64_t default_window_bytes = std::int64_t{48} << 20U;

/// A window of all rows, which come in `exact_order`.
inline constexpr std::int64_t whole_epoch = std::numeric_limits<std::int64_t>::max();

struct OrderConfig {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  bool permutes_units = false;
  /// Without it each unit is a window, and rows come as they are.
  bool permutes_rows = false;
  std::int64_t window_bytes = default_window_bytes;  ///< A larger unit is a window alone.
  int lanes = 1;                                     ///< `lanes_for(machines)`.
  /// Rows of a window that have more bytes, because functions made them larger or one unit has as
  /// many, are shuffled in parts of so many.
  std::int64_t part_bytes = default_window_bytes;
};

/// How many lanes a run has that never has more machines than these: so many that each machine of
/// 1, 2, 3, 4, 6 ... reads whole lanes: 1, 2, 4, 6, 12, 24, 48 ...
int lanes_for(int machines_max);

/// Rows [begin, end) of a unit. A unit is cut only where a lane ends.
struct UnitPart {
  std::uint32_t unit = 0;
  std::uint32_t window = 0;
  std::int64_t begin = 0;
  std::int64_t end = -1;  ///< -1: to the end of the unit, whose rows are not known.
};

struct Window {
  std::uint32_t lane = 0;
  std::uint32_t number = 0;      ///< In its lane, from 0.
  std::uint32_t first_part = 0;  ///< In `parts()`.
  std::uint32_t part_count = 0;
  std::int64_t begin = 0;  ///< Its first row in the lane; 0 where rows are not known.
  std::int64_t rows = -1;  ///< -1: not known before its units were read.
  std::int64_t bytes = 0;
};

/// Immutable: several dealers and threads may share one.
class EpochOrder {
 public:
  /// Where rows of a unit are not known there is one lane, which every machine reads.
  EpochOrder(const OrderConfig& config, std::span<const UnitSize> units);

  const OrderConfig& config() const { return config_; }
  int lanes() const { return static_cast<int>(lane_windows_.size()) - 1; }
  /// Whether the rows of all units are known.
  bool knows_rows() const { return knows_rows_; }
  std::int64_t rows() const { return rows_; }  ///< Of all lanes; where they are known.

  /// Lane by lane, in order.
  std::span<const Window> windows() const { return windows_; }
  /// Window by window, in order. A unit without rows is in none.
  std::span<const UnitPart> parts() const { return parts_; }
  std::span<const UnitPart> parts_of(std::uint32_t window) const {
    return parts().subspan(windows_[window].first_part, windows_[window].part_count);
  }
  /// The windows of a lane: [first, second) in `windows()`.
  std::uint32_t first_window(int lane) const { return lane_windows_[static_cast<std::size_t>(lane)]; }
  std::uint32_t end_window(int lane) const { return lane_windows_[static_cast<std::size_t>(lane) + 1]; }
  /// The window that has this row of the lane. Only where rows are known, and there is such a row.
  std::uint32_t window_at(int lane, std::int64_t row) const;

  /// Which row of the window comes when: `to[i]` is the number of the row that comes i-th, in the
  /// order of the window's parts. `to` keeps its memory.
  void row_order(std::uint32_t window, std::int64_t rows, std::vector<std::uint32_t>& to) const;
  /// The same of the rows of one part of a window. The parts' orders are drawn from the window's
  /// stream, one after the other.
  void row_order(std::uint32_t window, std::int64_t rows, std::vector<std::uint32_t>& to, RandomStream& stream) const;
  RandomStream row_stream(std::uint32_t window) const;

 private:
  void add_lane(int lane, std::span<const UnitSize> units, std::span<const std::uint32_t> order, std::size_t& next,
                std::int64_t& taken);
  void add_part(int lane, const UnitPart& part, const UnitSize& size);

  OrderConfig config_;
  bool knows_rows_ = true;
  std::int64_t rows_ = 0;
  std::vector<UnitPart> parts_;
  std::vector<Window> windows_;
  std::vector<std::uint32_t> lane_windows_;  ///< Where each lane begins, and the end.
};

/// How many of the first `rows` rows of an epoch come from this lane: rows are counted as if lanes
/// took turns, so a position in the epoch is one number, whatever the batches are.
inline std::int64_t rows_of_lane(std::int64_t rows, int lane, int lanes) { return (rows + lanes - 1 - lane) / lanes; }

}  // namespace headway::data
