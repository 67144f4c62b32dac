#pragma once

#include "flow/seen_rows.hpp"
#include "flow/sources/file_format.hpp"

#include <arrow/record_batch.h>

#include <memory>
#include <span>
#include <vector>

namespace headway::flow {

/// What the readers of a source's units share.
struct OpenedFiles {
  FoundFiles found;
  std::unique_ptr<FileFormat> format;
  std::shared_ptr<arrow::Schema> format_schema;
  /// What the source gives: columns of the format, then those of partitions, then the path.
  std::shared_ptr<arrow::Schema> schema;
  /// Where types of its columns are kept, and under which name; null: nowhere.
  std::shared_ptr<SeenRows> wider;
  std::string source;
  /// For each field of `schema` its place in [format | partitions | path].
  std::vector<int> places;
};

/// Reads the pieces of a unit one after the other, casts what they have to the schema, and joins
/// small batches. `columns` are indices of `opened->schema`. `pieces` outlives the reader.
std::shared_ptr<arrow::RecordBatchReader> read_unit(std::shared_ptr<const OpenedFiles> opened,
                                                    std::span<const Piece> pieces, const std::vector<int>& columns,
                                                    arrow::MemoryPool* pool);

}  // namespace headway::flow
