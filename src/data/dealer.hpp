#pragma once

#include "data/epoch_order.hpp"
#include "data/rounds.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// Deals one epoch to the ranks of one machine: which unit is read next, which window is complete,
/// and which of its rows each batch gets. A state machine without rows: its owner reads and copies.
///
///     EpochOrder order(config, units);                    // shared by the machine's dealers
///     Dealer dealer(order, shares, position);
///     while (has_credit) start(dealer.next_unit());       // in the order in which they are needed
///     // when a unit has been read and its row-wise operations are done, with `rows` rows:
///     if (auto window = *dealer.unit_done(part, rows))    // all units of the window are there
///       order.row_order(*window, dealer.rows_of(*window), permutation);
///     // when rank r has a free slot:
///     if (dealer.next(r, batch) == Dealer::Next::batch)   // copy batch.pieces, one after the other
///     while (auto window = dealer.next_retired()) free(*window);
///
/// Windows are indices in `order.windows()`, parts in `order.parts()`. Calls are per unit and per
/// batch, and allocate nothing once `batch` has its memory. Not thread-safe.
namespace headway::data {

/// Where an epoch stands between two rounds. The rest of a cursor stays the same for an epoch.
struct Position {
  std::int64_t rows_before = 0;  ///< Rows that all ranks have had, in this epoch.
  std::uint32_t window = 0;      ///< In lane 0: its number there.
  std::int64_t row = 0;          ///< In that window, in the order in which its rows come.
  std::int64_t batches = 0;      ///< Of each rank, in this epoch.
};

/// Rows of one window, in the order of `row_order`.
struct Piece {
  std::uint32_t window = 0;
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

struct DealtBatch {
  int rank = 0;
  std::int64_t rows = 0;
  std::vector<Piece> pieces;
  Position after;  ///< Where a run resumes that has trained this batch.
};

/// A unit, or a part of one, to be read.
struct UnitTask {
  std::uint32_t part = 0;  ///< Names the task.
  UnitPart rows;
};

class Dealer {
 public:
  enum class Next { batch, wait, end };

  /// `order` outlives the dealer.
  Dealer(const EpochOrder& order, const Shares& shares, const Position& start);

  /// The next unit that this machine needs; nothing: no more of them. Units are needed in this
  /// order, so whoever reads them in another may run out of memory.
  std::optional<UnitTask> next_unit();

  /// A task has ended with so many rows. Returns its window when that is complete now. Errors:
  /// `corrupted`, when the rows are not those that were known before.
  Result<std::optional<std::uint32_t>> unit_done(std::uint32_t part, std::int64_t rows);

  /// Whether the next batch of some rank waits for this task, so that its credit comes first.
  bool is_needed_now(std::uint32_t part) const;

  /// The rows of a complete window.
  std::int64_t rows_of(std::uint32_t window) const { return states_[window].rows; }

  /// The next batch of a rank of this machine. `wait`: a unit must be done first. `end`: the epoch
  /// has no more for this rank.
  Next next(int rank, DealtBatch& batch);

  /// A window that no rank needs any more, each of them once. In the order of each lane.
  std::optional<std::uint32_t> next_retired();

  /// How many rounds there are from the start, where it is known.
  std::optional<std::int64_t> rounds() const;
  /// Rows at the end of the epoch that no rank gets, where it is known.
  std::int64_t dropped() const { return rounds_.dropped(); }

 private:
  struct WindowState {
    std::uint32_t missing = 0;  ///< Parts that are not done.
    std::int64_t rows = 0;      ///< Of those that are.
    std::int64_t begin = 0;     ///< Its first row in the lane, once that is known.
    bool is_wanted = false;
  };

  bool is_in_sequence() const { return order_.lanes() == 1; }
  std::size_t place_of(int rank) const;
  bool want_next_window();
  void want_windows_of(std::int64_t round);
  void learn_rows();
  bool add_pieces(int lane, std::int64_t begin, std::int64_t end, std::vector<Piece>& pieces) const;
  std::int64_t slowest_round() const;
  std::uint32_t window_at(int lane, std::int64_t row) const;
  std::int64_t rows_needed() const;
  Position position_at(std::int64_t row, std::int64_t batches) const;

  const EpochOrder& order_;
  Shares shares_;
  Rounds rounds_;
  Position start_;
  std::vector<WindowState> states_;        ///< Of each window.
  std::vector<std::int64_t> rank_rounds_;  ///< The next round of each rank of this machine.
  std::vector<std::uint32_t> wanted_;      ///< Windows to be read, those from `next_wanted_` on.
  std::size_t next_wanted_ = 0;
  std::uint32_t next_part_ = 0;  ///< In the first window that is wanted.
  /// Several lanes: the windows of these rounds are wanted.
  std::int64_t planned_rounds_ = 0;
  std::uint32_t next_window_ = 0;  ///< One lane: the first window that was never wanted.
  /// One lane: up to this one it is known where windows begin.
  std::uint32_t known_windows_ = 0;
  std::vector<std::uint32_t> retired_until_;  ///< In each lane.
};

}  // namespace headway::data
