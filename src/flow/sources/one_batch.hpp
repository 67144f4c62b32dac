#pragma once

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <memory>
#include <utility>

namespace headway::flow {

/// A reader that gives one batch.
inline arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> one_batch(std::shared_ptr<arrow::RecordBatch> batch) {
  auto schema = batch->schema();
  return arrow::RecordBatchReader::Make({std::move(batch)}, std::move(schema));
}

}  // namespace headway::flow
