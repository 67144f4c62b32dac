#pragma once

#include "data/dealer.hpp"
#include "data/rounds.hpp"
#include "flow/outlet.hpp"
#include "flow/stage.hpp"

#include <arrow/result.h>
#include <arrow/type.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace headway::flow {

/// A client of a flow.
struct Member {
  int rank = 0;
  std::shared_ptr<Outlet> outlet;
};

struct DealerConfig {
  std::optional<std::int64_t> batch_rows;  ///< Unset: pieces as they come.
  data::Shares shares;
  std::uint32_t epoch = 0;
  std::uint32_t layout = 0;  ///< The id of its rows' layout.
  data::Position start;
  /// Rows to be left out first: those that went before the start, where the stage begins with the
  /// epoch.
  std::int64_t skip_rows = 0;
  /// The epoch's rows, where only those of `shares.ranks` come, round by round and rank by rank;
  /// -1: all rows come.
  std::int64_t rows_of_epoch = -1;
  /// Where large rows may lie that clients map; may be null.
  std::shared_ptr<SharedRing> ring;
  /// Called as the wait for a client to take a batch begins, and as it ends.
  std::function<void(int rank, bool waits)> on_wait = [](int, bool) {};
};

/// Cuts the rows of one epoch into batches, in rounds of one for each client, and writes them to
/// the clients' slots. A round is dealt when its rows are certain, so that all clients get a batch
/// or none.
class RowDealer {
 public:
  RowDealer(DealerConfig config, std::vector<Member> members);

  /// Waits for clients. Errors: rows that do not fit those before.
  arrow::Status put(Chunk chunk);
  /// Deals the rest. `schema` goes to clients where no row came; null: unknown.
  arrow::Status finish(const std::shared_ptr<arrow::Schema>& schema);

  /// Waits until the client whose batch comes next needs it (Outlet::wait_for_need).
  void wait_for_need() const;
  /// No client wants more: all are gone, or the rows that a limit allows were dealt.
  bool is_satisfied() const;
  /// Behind what was dealt.
  const data::Position& position() const { return position_; }
  std::int64_t dropped() const { return dropped_; }

 private:
  using Rows = std::shared_ptr<arrow::RecordBatch>;
  struct Held {
    Rows rows;
    std::int64_t window = 0;
    std::int64_t row = 0;  ///< Of the first one within the window.
    std::shared_ptr<Credit> credit;
  };

  arrow::Status tell_layout(const std::shared_ptr<arrow::Schema>& schema);
  arrow::Result<Rows> fitting(const Rows& rows) const;
  bool gets_own_rows() const { return config_.rows_of_epoch >= 0; }
  bool has_round(std::int64_t round) const;
  arrow::Status deal_rounds();
  arrow::Status deal_piece();
  arrow::Status deal_round(std::int64_t round);
  const Member* member(int rank) const;
  arrow::Status deal(int rank, const std::vector<Rows>& rows, const data::Position& after);
  std::vector<Rows> take(std::int64_t rows);
  data::Position position_after(std::int64_t rows) const;

  const DealerConfig config_;
  const std::vector<Member> members_;
  data::Rounds rounds_;
  std::int64_t next_round_ = 0;
  std::int64_t skip_rows_;
  data::Position position_;
  std::shared_ptr<arrow::Schema> came_;    ///< As rows come.
  std::shared_ptr<arrow::Schema> schema_;  ///< As clients get them.
  std::int64_t window_ = -1;
  std::int64_t row_in_window_ = 0;
  std::int64_t known_ = 0;
  std::int64_t held_rows_ = 0;
  std::deque<Held> held_;
  std::int64_t dropped_ = 0;
};

}  // namespace headway::flow
