#pragma once

#include "flow/stage.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace headway::flow {

/// Rows of one stage, in whatever numbers they are wanted.
class RowQueue {
 public:
  explicit RowQueue(std::unique_ptr<Stage> stage) : stage_(std::move(stage)) {}

  /// Waits for rows; false at the end.
  arrow::Result<bool> has_rows() {
    while (rows_ == nullptr || rows_->num_rows() == 0) {
      ARROW_ASSIGN_OR_RAISE(auto chunk, stage_->next());
      if (!chunk) return false;
      rows_ = std::move(chunk->rows);
      credit_ = std::move(chunk->credit);
    }
    return true;
  }

  std::int64_t rows() const { return rows_->num_rows(); }
  const arrow::RecordBatch& front() const { return *rows_; }
  const std::shared_ptr<Credit>& credit() const { return credit_; }
  std::shared_ptr<arrow::RecordBatch> take(std::int64_t count) {
    auto taken = rows_->Slice(0, count);
    rows_ = rows_->Slice(count);
    return taken;
  }
  const Stage& stage() const { return *stage_; }
  void stop() { stage_->stop(); }

 private:
  std::unique_ptr<Stage> stage_;
  std::shared_ptr<arrow::RecordBatch> rows_;
  std::shared_ptr<Credit> credit_;
};

}  // namespace headway::flow
