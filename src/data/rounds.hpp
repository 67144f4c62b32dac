#pragma once

#include <cstdint>
#include <vector>

/// Equal shares of an epoch: how many rows each rank gets in each round. Arithmetic only.
namespace headway::data {

struct Shares {
  int world_size = 1;
  std::int64_t batch_rows = 256;  ///< Of each rank; 1 or more.
  /// Without the short batches at the end.
  bool drop_last = false;
  /// All ranks make as many steps as each other: what is left at the end is one short batch of
  /// equal rows for each, and fewer rows than ranks are dropped. Else the rest is dealt as it is.
  bool equal = true;
  std::vector<int> ranks = {0};  ///< Those of this machine, ascending.
  std::int64_t rows_max = -1;    ///< The epoch has no more rows than these; -1: no limit.
};

/// Rows of an epoch, by number. Within a round the rows of lane 0 come first, then those of lane 1
/// and so on; `begin` counts from the round's first row.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t rows = 0;
};

/// The rounds from one position to the end of the epoch, numbered from 0.
class Rounds {
 public:
  /// `first_row`: how many rows of the epoch come before round 0.
  Rounds(const Shares& shares, std::int64_t first_row);

  /// So many rows of the epoch are certain. A limit may make this the total.
  void set_known(std::int64_t rows);
  /// The epoch has so many rows and no more.
  void set_total(std::int64_t rows);
  bool knows_total() const { return total_ >= 0; }

  /// Whether round `number` has ended the epoch before: there is none such.
  bool is_past_end(std::int64_t number) const { return knows_total() && number >= count_; }
  /// Whether the round's rows are certain.
  bool is_decided(std::int64_t number) const;
  /// How many rounds there are, where the total is known.
  std::int64_t count() const { return count_; }

  /// The row of the epoch that a round begins with.
  std::int64_t first_row(std::int64_t number) const;
  /// The rows of a round that is decided. The last one ends with the epoch, so that what it drops
  /// is not trained after a restart with other shares.
  std::int64_t end_row(std::int64_t number) const;
  /// How many rows the round deals.
  std::int64_t rows(std::int64_t number) const;
  /// A rank's rows of a decided round; `begin` counts from the round's first row.
  RowRange batch(std::int64_t number, int rank) const;

  /// How many rows at the end no rank gets, where the total is known.
  std::int64_t dropped() const { return dropped_; }

 private:
  std::int64_t global_batch() const { return shares_.world_size * shares_.batch_rows; }

  Shares shares_;
  std::int64_t first_row_;
  std::int64_t known_ = 0;
  std::int64_t total_ = -1;
  std::int64_t full_ = 0;  ///< Rounds of full batches, where the total is known.
  std::int64_t count_ = 0;
  std::int64_t rest_rows_ = 0;  ///< What the round after the full ones deals.
  std::int64_t dropped_ = 0;
};

}  // namespace headway::data
