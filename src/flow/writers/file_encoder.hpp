#pragma once

#include "data/plan_nodes.hpp"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>

namespace headway::flow {

/// Rows into one file.
class FileEncoder {
 public:
  FileEncoder() = default;
  FileEncoder(const FileEncoder&) = delete;
  FileEncoder& operator=(const FileEncoder&) = delete;
  virtual ~FileEncoder() = default;

  virtual arrow::Status write(const arrow::RecordBatch& rows) = 0;
  /// The file is whole then.
  virtual arrow::Status finish() = 0;
};

/// The file of a write without rows, which readers take for a data set of no rows.
enum class EmptyFile {
  none,          ///< Each file is a row.
  with_columns,  ///< Says what the columns are, and is not made where nobody knows them.
  plain          ///< Has no columns.
};

/// A format that is written.
class FileWriting {
 public:
  FileWriting() = default;
  FileWriting(const FileWriting&) = delete;
  FileWriting& operator=(const FileWriting&) = delete;
  virtual ~FileWriting() = default;

  /// With its dot.
  virtual const char* extension() const = 0;
  virtual EmptyFile empty_file() const { return EmptyFile::with_columns; }
  /// A new file at `path` for rows of `schema`.
  virtual arrow::Result<std::unique_ptr<FileEncoder>> begin(const std::string& path,
                                                            const std::shared_ptr<arrow::Schema>& schema) const = 0;
};

using WritingResult = arrow::Result<std::unique_ptr<FileWriting>>;

WritingResult parquet_writing(const data::WriteNode& node, arrow::MemoryPool* pool);
/// A file a row, of the bytes of one column; with `max_rows_per_file` 1.
WritingResult bytes_writing(const data::WriteNode& node, arrow::MemoryPool* pool);
WritingResult csv_writing(const data::WriteNode& node, arrow::MemoryPool* pool);
/// A JSON object a line. Bytes become text in base64, times text as ISO 8601, tensors nested lists.
WritingResult json_writing(const data::WriteNode& node, arrow::MemoryPool* pool);
WritingResult numpy_writing(const data::WriteNode& node, arrow::MemoryPool* pool);
WritingResult orc_writing(const data::WriteNode& node, arrow::MemoryPool* pool);
/// tf.train.Example: integers, floats, text and bytes, and lists of these. Null: the feature is
/// left out.
WritingResult tfrecord_writing(const data::WriteNode& node, arrow::MemoryPool* pool);
/// Tar files: `__key__` (or the row's number) names a sample, each other column is a file of it
/// with the column's name as suffix: bytes and text as they are, all else as JSON. Null: no file.
WritingResult webdataset_writing(const data::WriteNode& node, arrow::MemoryPool* pool);

}  // namespace headway::flow
