#pragma once

#include "data/credits.hpp"
#include "data/dealer.hpp"
#include "sim/data/scenario.hpp"

#include <map>
#include <optional>
#include <vector>

namespace headway::data::sim {

/// A row of the data set, by unit and place in it.
struct Row {
  std::uint32_t unit = 0;
  std::int64_t row = 0;
  auto operator<=>(const Row&) const = default;
};

/// One data set on one machine, as the executor reads it: units with credit, windows, batches. Each
/// call does one thing that may happen next, and returns whether it could.
class Reader {
 public:
  Reader(const Scenario& scenario, const EpochOrder& order, const Shares& shares, const Position& start,
         Credits& credits);

  /// Takes the next unit, when there is credit.
  bool start_unit();
  /// One of the units that are being read is done.
  bool finish_unit(Random& random);
  /// The next batch of a rank, with its rows; `wait` and `end` as the dealer says.
  Dealer::Next next(int rank, DealtBatch& batch, std::vector<Row>& rows);

  const Dealer& dealer() const { return dealer_; }
  /// Whether everything that was read has been given back, at the end of an epoch.
  bool is_empty() const { return windows_.empty() && reading_.empty() && credits_.used_by(stream_) == 0; }

 private:
  struct Reading {
    UnitTask task;
    std::uint64_t ticket = 0;
  };
  struct HeldWindow {
    std::map<std::uint32_t, std::int64_t> rows_of_parts;
    std::vector<std::uint64_t> tickets;
    std::vector<Row> rows;  ///< In the order in which they come, once it is complete.
  };

  std::int64_t bytes_of(const UnitPart& part) const;
  void fill(std::uint32_t window);
  void retire();

  const Scenario& scenario_;
  const EpochOrder& order_;
  Dealer dealer_;
  Credits& credits_;
  int stream_;
  std::uint32_t first_window_;  ///< Where rows are not known.
  std::optional<UnitTask> next_;
  std::vector<Reading> reading_;
  std::map<std::uint32_t, HeldWindow> windows_;
  std::vector<std::uint32_t> permutation_;
};

}  // namespace headway::data::sim
