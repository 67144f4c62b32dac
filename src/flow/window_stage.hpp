#pragma once

#include "data/epoch_order.hpp"
#include "flow/row_window.hpp"
#include "flow/stage.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headway::flow {

/// Shuffles the rows within each window of an epoch's order, or of each part of a window that has
/// more than `part_bytes`. Where parts end depends on the rows alone.
class WindowStage : public Stage {
 public:
  /// `rows` come in the order of `order`. Where they are dealt as they leave this stage, wide
  /// values are put into `ring`, so that dealing does not copy them again.
  WindowStage(std::unique_ptr<Stage> rows, std::shared_ptr<const data::EpochOrder> order, arrow::MemoryPool* pool,
              std::shared_ptr<SharedRing> ring = nullptr);

  /// How many rows are taken at a time, if each has so many bytes in columns of fixed width.
  static std::int64_t rows_of_chunk(std::int64_t row_bytes);

  arrow::Result<std::optional<Chunk>> next() override;
  std::shared_ptr<arrow::Schema> schema() const override { return rows_->schema(); }
  void stop() override { rows_->stop(); }

 private:
  arrow::Result<bool> fill();
  void begin(const Chunk& chunk);
  arrow::Status add_fitting(Chunk& chunk);

  const std::unique_ptr<Stage> rows_;
  const std::shared_ptr<const data::EpochOrder> order_;
  arrow::MemoryPool* const pool_;
  const std::shared_ptr<SharedRing> ring_;

  /// Of which rows are left, or whose unit's end has not been counted.
  std::optional<Chunk> chunk_;
  std::unique_ptr<RowWindow> window_;  ///< The rows of one part.
  std::optional<data::RandomStream> stream_;
  std::int64_t bytes_ = 0;  ///< Of the part.
  std::int64_t number_ = -1;
  std::size_t units_ = 0;  ///< That have ended in this window.
  std::vector<std::shared_ptr<Credit>> credits_;
  std::vector<std::uint32_t> numbers_;  ///< Which row comes when.
  std::size_t given_ = 0;
};

}  // namespace headway::flow
