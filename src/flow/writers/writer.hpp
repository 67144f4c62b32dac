#pragma once

#include "data/plan_nodes.hpp"
#include "flow/writers/file_names.hpp"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

/// Rows to files. A write is seen as a whole or not at all: files are made where nobody looks, and
/// come to their place when all are finished.
namespace headway::flow {

/// Takes rows in their order, from one thread at a time. Without `finish` nothing is left behind.
class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  virtual ~Writer() = default;

  virtual arrow::Status write(const std::shared_ptr<arrow::RecordBatch>& rows) = 0;

  /// Puts the files into their place. The locations of what was written, in the order of the rows.
  virtual arrow::Result<std::vector<std::string>> finish() = 0;
};

/// A writer of rows of `schema` for a write node, of one of the formats `write_formats`. A null
/// schema: there will be no rows, and nobody knows their columns. Null when the mode is `ignore`
/// and there are files already. Of `node.options` it takes
///   - for all: `min_rows_per_file` and `max_rows_per_file`. Without them a file ends when its rows
///     have 128 MiB in memory; the options of `file_names`, which asks `ask`;
///   - parquet: `partition_cols` (their values become folders such as `year=2026`; the columns are
///     not in the files) and `compression` ("snappy", "zstd", "gzip", "brotli", "lz4", "none");
///   - numpy: `column` ("data");
///   - bytes: `column` ("bytes"), `extension` ("bin").
///
/// Modes: `append` adds files, `create` and `error` fail with AlreadyExists where files are,
/// `overwrite` puts the new folder in the place of the old one. Errors name the option, the column
/// or the place. A column whose type the format cannot hold is an error before a row is written.
arrow::Result<std::unique_ptr<Writer>> open_writer(const data::WriteNode& node,
                                                   const std::shared_ptr<arrow::Schema>& schema,
                                                   arrow::MemoryPool* pool, const AskForNames& ask = nullptr);

}  // namespace headway::flow
