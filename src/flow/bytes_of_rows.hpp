#pragma once

#include <arrow/record_batch.h>

#include <cstdint>

namespace headway::flow {

/// About what the first `rows` rows of a batch have: the same sum into whatever batches the rows
/// are cut, and whatever wider types `wider_schema` gives them later, so that where rows are cut
/// depends on their values alone. Numbers have eight bytes therefore, except for those of a byte in
/// lists and tensors (which do not become wider: `keeps_bytes_in_arrays`); nulls have none.
std::int64_t bytes_of_rows(const arrow::RecordBatch& batch, std::int64_t rows);

struct RowsAndBytes {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
};

/// The most rows, from the first one on, that have no more than `most` bytes, and what they have.
RowsAndBytes rows_within(const arrow::RecordBatch& batch, std::int64_t most);

}  // namespace headway::flow
