#include "flow/lanes_stage.hpp"

#include "data/lane_ranges.hpp"

#include <algorithm>
#include <utility>

namespace headway::flow {

LanesStage::LanesStage(std::shared_ptr<const data::EpochOrder> order, const data::Shares& shares,
                       std::int64_t rows_before, std::shared_ptr<arrow::Schema> schema, MakeLane make_lane)
    : order_(std::move(order)),
      shares_(shares),
      rounds_(shares, rows_before),
      schema_(std::move(schema)),
      make_lane_(std::move(make_lane)),
      lanes_(static_cast<std::size_t>(order_->lanes())) {
  rounds_.set_total(order_->rows());
}

void LanesStage::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const Lane& lane : lanes_) {
    if (lane.stage) lane.stage->stop();
  }
}

/// The parts of the next round; false at the end of the epoch.
bool LanesStage::plan_round() {
  if (rounds_.is_past_end(round_)) return false;
  for (const int rank : shares_.ranks) {
    const data::RowRange range = rounds_.batch(round_, rank);
    data::for_each_lane(rounds_, order_->lanes(), round_, range,
                        [this](int lane, std::int64_t begin, std::int64_t end) {
                          parts_.push_back({lane, begin, end});
                          return true;
                        });
  }
  ++round_;
  return true;
}

arrow::Status LanesStage::open(int number, std::int64_t row) {
  const std::uint32_t window = order_->window_at(number, row);
  ARROW_ASSIGN_OR_RAISE(auto stage, make_lane_(number, window));
  Lane& lane = lanes_[static_cast<std::size_t>(number)];
  const std::lock_guard lock(mutex_);
  lane.stage = std::move(stage);
  lane.row = order_->windows()[window].begin;
  return stopped_ ? arrow::Status::Cancelled("the stream was closed") : arrow::Status::OK();
}

/// Has the lane hold its row of this number, and those after it that came along.
arrow::Status LanesStage::move_to(int number, std::int64_t row) {
  Lane& lane = lanes_[static_cast<std::size_t>(number)];
  if (!lane.stage) ARROW_RETURN_NOT_OK(open(number, row));
  const auto rows = [&lane] { return lane.held.rows ? lane.held.rows->num_rows() : 0; };
  while (lane.row + rows() <= row) {
    lane.row += rows();
    ARROW_ASSIGN_OR_RAISE(auto more, lane.stage->next());
    if (!more) return arrow::Status::Invalid("lane ", number, " of an epoch ends before its row ", row);
    lane.held = std::move(*more);
  }
  if (lane.row < row) lane.held.rows = lane.held.rows->Slice(row - std::exchange(lane.row, row));
  return arrow::Status::OK();
}

arrow::Result<std::optional<Chunk>> LanesStage::next() {
  while (parts_.empty()) {
    if (!plan_round()) return std::nullopt;
  }
  Part& part = parts_.front();
  ARROW_RETURN_NOT_OK(move_to(part.lane, part.begin));
  const Lane& lane = lanes_[static_cast<std::size_t>(part.lane)];
  const std::int64_t rows = std::min(part.end - part.begin, lane.held.rows->num_rows());
  Chunk chunk;
  chunk.rows = lane.held.rows->Slice(0, rows);
  chunk.credit = lane.held.credit;
  part.begin += rows;
  if (part.begin == part.end) parts_.pop_front();
  return chunk;
}

}  // namespace headway::flow
