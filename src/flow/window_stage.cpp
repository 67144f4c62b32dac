#include "flow/window_stage.hpp"

#include "flow/bytes_of_rows.hpp"

#include <algorithm>
#include <utility>

namespace headway::flow {
namespace {

/// Rows are taken so many bytes at a time.
constexpr std::int64_t chunk_bytes = 2 << 20;
constexpr std::int64_t chunk_rows_min = 32;

}  // namespace

WindowStage::WindowStage(std::unique_ptr<Stage> rows, std::shared_ptr<const data::EpochOrder> order,
                         arrow::MemoryPool* pool, std::shared_ptr<SharedRing> ring)
    : rows_(std::move(rows)), order_(std::move(order)), pool_(pool), ring_(std::move(ring)) {}

std::int64_t WindowStage::rows_of_chunk(std::int64_t row_bytes) {
  return std::max(chunk_bytes / std::max<std::int64_t>(row_bytes, 64), chunk_rows_min);
}

void WindowStage::begin(const Chunk& chunk) {
  if (chunk.window != number_) {
    number_ = chunk.window;
    units_ = 0;
    credits_.clear();
    stream_ = order_->row_stream(static_cast<std::uint32_t>(number_));
  }
  if (credits_.empty() || credits_.back() != chunk.credit) credits_.push_back(chunk.credit);
}

/// Takes rows of the chunk while they fit into the part, and one row at least into an empty part.
arrow::Status WindowStage::add_fitting(Chunk& chunk) {
  const std::shared_ptr<arrow::RecordBatch> rows = std::exchange(chunk.rows, nullptr);
  if (rows == nullptr || rows->num_rows() == 0) return arrow::Status::OK();
  if (window_ == nullptr || !window_->schema()->Equals(*rows->schema(), false)) {
    const data::Window& window = order_->windows()[static_cast<std::size_t>(number_)];
    window_ = std::make_unique<RowWindow>(rows->schema(), window.rows, pool_, ring_);
  }
  RowsAndBytes fitting = rows_within(*rows, order_->config().part_bytes - bytes_);
  if (window_->rows() == 0 && fitting.rows == 0) fitting = {1, bytes_of_rows(*rows, 1)};
  if (fitting.rows < rows->num_rows()) chunk.rows = rows->Slice(fitting.rows);
  if (fitting.rows == 0) return arrow::Status::OK();
  bytes_ += fitting.bytes;
  return window_->add(*rows->Slice(0, fitting.rows));
}

/// The next part of a window that has rows; false at the end.
arrow::Result<bool> WindowStage::fill() {
  if (window_ != nullptr) window_->clear();
  credits_.clear();
  given_ = 0;
  bytes_ = 0;
  numbers_.clear();
  while (true) {
    if (!chunk_) {
      ARROW_ASSIGN_OR_RAISE(chunk_, rows_->next());
      if (!chunk_) return false;
    }
    begin(*chunk_);
    ARROW_RETURN_NOT_OK(add_fitting(*chunk_));
    const bool is_full = chunk_->rows != nullptr;
    if (!is_full) {
      if (chunk_->ends_unit) ++units_;
      chunk_.reset();
    }
    const bool is_whole = units_ >= order_->windows()[static_cast<std::size_t>(number_)].part_count;
    if ((!is_full && !is_whole) || window_ == nullptr || window_->rows() == 0) continue;
    order_->row_order(static_cast<std::uint32_t>(number_), window_->rows(), numbers_, *stream_);
    return true;
  }
}

arrow::Result<std::optional<Chunk>> WindowStage::next() {
  if (given_ == numbers_.size()) {
    ARROW_ASSIGN_OR_RAISE(const bool more, fill());
    if (!more) return std::nullopt;
  }
  const auto most = static_cast<std::size_t>(rows_of_chunk(window_->row_bytes()));
  const std::size_t count = std::min(numbers_.size() - given_, most);
  Chunk chunk;
  ARROW_ASSIGN_OR_RAISE(chunk.rows, window_->take(std::span(numbers_).subspan(given_, count)));
  given_ += count;
  chunk.window = number_;
  chunk.unit = number_;
  chunk.ends_unit = given_ == numbers_.size() && !chunk_;
  chunk.credit = credits_.empty() ? nullptr : credits_.front();
  return chunk;
}

}  // namespace headway::flow
