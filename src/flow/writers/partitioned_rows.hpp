#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// Rows by the values of some columns, which become folders.
class PartitionedRows {
 public:
  struct Part {
    std::string folder;  ///< "year=2026/city=Rome/"; empty without columns.
    std::shared_ptr<arrow::RecordBatch> rows;
  };

  /// Errors: Invalid for a column that is not in the schema, is there for all columns, or has
  /// another type than numbers, truth values, text and dates.
  static arrow::Result<PartitionedRows> of(const std::shared_ptr<arrow::Schema>& schema,
                                           const std::vector<std::string>& columns, arrow::MemoryPool* pool);

  /// Of what goes into files: without the columns of partitions.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  /// Where the partitions' columns are null: a reader finds all columns in a file there.
  std::string null_folder() const;

  /// The rows of each folder in their order; folders in the order in which they come first.
  arrow::Result<std::vector<Part>> split(const std::shared_ptr<arrow::RecordBatch>& rows) const;

 private:
  PartitionedRows(std::shared_ptr<arrow::Schema> schema, std::vector<int> places, std::vector<std::string> folders,
                  std::vector<int> kept, arrow::MemoryPool* pool)
      : schema_(std::move(schema)),
        places_(std::move(places)),
        folders_(std::move(folders)),
        kept_(std::move(kept)),
        pool_(pool) {}

  std::shared_ptr<arrow::Schema> schema_;
  std::vector<int> places_;
  std::vector<std::string> folders_;  ///< How those of each place begin: "year=".
  std::vector<int> kept_;
  arrow::MemoryPool* pool_;
};

}  // namespace headway::flow
