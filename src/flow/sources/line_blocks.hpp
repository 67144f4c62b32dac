#pragma once

#include "flow/sources/line_ends.hpp"

#include <arrow/table.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace headway::flow {

/// A stream of rows that are lines, in blocks of whole rows.
class LineBlocks {
 public:
  /// Of about `bytes` bytes, or of one row where that is longer. `quoting` as for `row_begin`.
  LineBlocks(std::shared_ptr<arrow::io::InputStream> stream, std::int64_t bytes,
             const std::optional<Quoting>& quoting = {})
      : stream_(std::move(stream)), bytes_(bytes), quoting_(quoting) {}

  /// Null at the end.
  arrow::Result<std::shared_ptr<arrow::Buffer>> next();
  /// How many line ends came before the last block.
  std::int64_t lines_before() const { return lines_before_; }

 private:
  std::shared_ptr<arrow::io::InputStream> stream_;
  std::int64_t bytes_;
  std::optional<Quoting> quoting_;
  std::string rest_;
  bool has_ended_ = false;
  std::int64_t lines_before_ = 0;
  std::int64_t lines_ = 0;  ///< Of the last block.
};

/// The rows of blocks, one table after the other.
class TablesOfLines : public arrow::RecordBatchReader {
 public:
  /// Of a block, before which there were so many line ends.
  using Parse = std::function<arrow::Result<std::shared_ptr<arrow::Table>>(const std::shared_ptr<arrow::Buffer>&,
                                                                           std::int64_t lines_before)>;

  TablesOfLines(std::shared_ptr<arrow::Schema> schema, LineBlocks blocks, Parse parse)
      : schema_(std::move(schema)), blocks_(std::move(blocks)), parse_(std::move(parse)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override;

 private:
  std::shared_ptr<arrow::Schema> schema_;
  LineBlocks blocks_;
  Parse parse_;
  std::optional<arrow::TableBatchReader> batches_;
};

}  // namespace headway::flow
