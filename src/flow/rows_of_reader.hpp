#pragma once

#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace headway::flow {

/// Batches of another reader, from one row to another.
class RowsOfReader : public arrow::RecordBatchReader {
 public:
  RowsOfReader(std::shared_ptr<arrow::RecordBatchReader> reader, std::int64_t begin, std::int64_t rows)
      : reader_(std::move(reader)), skipped_(begin), left_(rows) {}

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    *batch = nullptr;
    while (left_ > 0) {
      std::shared_ptr<arrow::RecordBatch> next;
      ARROW_RETURN_NOT_OK(reader_->ReadNext(&next));
      if (next == nullptr) return arrow::Status::OK();
      const std::int64_t before = std::min(skipped_, next->num_rows());
      const std::int64_t rows = std::min(left_, next->num_rows() - before);
      skipped_ -= before;
      left_ -= rows;
      if (rows == 0) continue;
      *batch = next->Slice(before, rows);
      return arrow::Status::OK();
    }
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::int64_t skipped_;
  std::int64_t left_;
};

}  // namespace headway::flow
