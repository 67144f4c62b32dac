#pragma once

#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>

#include <cstdint>

namespace headway::flow {

/// The bytes of a batch's rows, as they lie in memory now.
inline std::int64_t batch_bytes(const arrow::RecordBatch& batch) {
  return arrow::util::ReferencedBufferSize(batch).ValueOr(0);
}

}  // namespace headway::flow
