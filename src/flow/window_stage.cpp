#include "flow/window_stage.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

/// Rows are taken so many bytes at a time.
constexpr std::int64_t chunk_bytes = 2 << 20;
constexpr std::int64_t chunk_rows_min = 256;

}  // namespace

WindowStage::WindowStage(std::unique_ptr<Stage> rows, std::shared_ptr<const data::EpochOrder> order,
                         arrow::MemoryPool* pool)
    : rows_(std::move(rows)), order_(std::move(order)), pool_(pool) {}

arrow::Status WindowStage::add(Chunk chunk) {
  if (chunk.window != number_) {
    number_ = chunk.window;
    units_ = 0;
    credits_.clear();
  }
  if (chunk.rows != nullptr) {
    if (window_ == nullptr || !window_->schema()->Equals(*chunk.rows->schema(), false)) {
      const data::Window& window = order_->windows()[static_cast<std::size_t>(number_)];
      window_ = std::make_unique<RowWindow>(chunk.rows->schema(), window.rows, pool_);
    }
    ARROW_RETURN_NOT_OK(window_->add(*chunk.rows));
  }
  if (chunk.ends_unit) ++units_;
  if (credits_.empty() || credits_.back() != chunk.credit) credits_.push_back(std::move(chunk.credit));
  return arrow::Status::OK();
}

/// The next window that has rows; false at the end.
arrow::Result<bool> WindowStage::fill() {
  if (window_ != nullptr) window_->clear();
  credits_.clear();
  given_ = 0;
  numbers_.clear();
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto chunk, rows_->next());
    if (!chunk) return false;
    ARROW_RETURN_NOT_OK(add(std::move(*chunk)));
    if (units_ < order_->windows()[static_cast<std::size_t>(number_)].part_count) continue;
    if (window_ == nullptr || window_->rows() == 0) continue;
    order_->row_order(static_cast<std::uint32_t>(number_), window_->rows(), numbers_);
    return true;
  }
}

arrow::Result<std::optional<Chunk>> WindowStage::next() {
  if (given_ == numbers_.size()) {
    ARROW_ASSIGN_OR_RAISE(const bool more, fill());
    if (!more) return std::nullopt;
  }
  const std::int64_t rows = std::max(chunk_bytes / std::max<std::int64_t>(window_->row_bytes(), 64), chunk_rows_min);
  const std::size_t count = std::min(numbers_.size() - given_, static_cast<std::size_t>(rows));
  Chunk chunk;
  ARROW_ASSIGN_OR_RAISE(chunk.rows, window_->take(std::span(numbers_).subspan(given_, count)));
  given_ += count;
  chunk.window = number_;
  chunk.unit = number_;
  chunk.ends_unit = given_ == numbers_.size();
  chunk.credit = credits_.empty() ? nullptr : credits_.front();
  return chunk;
}

}  // namespace headway::flow
