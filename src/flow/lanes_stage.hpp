#pragma once

#include "data/epoch_order.hpp"
#include "data/rounds.hpp"
#include "flow/stage.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace headway::flow {

/// The rows of this machine's ranks, round by round and rank by rank, out of an order of several
/// lanes. A lane that no rank here has rows of is not read.
class LanesStage : public Stage {
 public:
  /// Reads a lane from a window on.
  using MakeLane = std::function<arrow::Result<std::unique_ptr<Stage>>(int lane, std::uint32_t first_window)>;

  /// `rows_before`: rows of the epoch before the first round.
  LanesStage(std::shared_ptr<const data::EpochOrder> order, const data::Shares& shares, std::int64_t rows_before,
             std::shared_ptr<arrow::Schema> schema, MakeLane make_lane);

  arrow::Result<std::optional<Chunk>> next() override;
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  void stop() override;

 private:
  /// Rows [begin, end) of a lane.
  struct Part {
    int lane = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  struct Lane {
    std::unique_ptr<Stage> stage;
    Chunk held;
    std::int64_t row = 0;  ///< In the lane, of the first row that is held.
  };

  bool plan_round();
  arrow::Status open(int number, std::int64_t row);
  arrow::Status move_to(int number, std::int64_t row);

  const std::shared_ptr<const data::EpochOrder> order_;
  const data::Shares shares_;
  data::Rounds rounds_;
  const std::shared_ptr<arrow::Schema> schema_;
  const MakeLane make_lane_;
  std::int64_t round_ = 0;
  std::deque<Part> parts_;  ///< Of the last round that was planned.
  std::mutex mutex_;        ///< For stages that begin while another thread stops.
  bool stopped_ = false;
  std::vector<Lane> lanes_;
};

}  // namespace headway::flow
