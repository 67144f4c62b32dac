#pragma once

#include <arrow/record_batch.h>

#include <cstdint>

namespace headway::flow {

/// What the first `rows` rows of a batch have: the same sum into whatever batches the rows are cut.
/// Nulls have their values' bytes; truth values have a byte.
std::int64_t bytes_of_rows(const arrow::RecordBatch& batch, std::int64_t rows);

/// The most rows, from the first one on, that have no more bytes.
std::int64_t rows_of_bytes(const arrow::RecordBatch& batch, std::int64_t bytes);

}  // namespace headway::flow
