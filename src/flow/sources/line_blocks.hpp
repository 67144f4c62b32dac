#pragma once

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>

namespace headway::flow {

/// A stream of lines, in blocks of whole lines.
class LineBlocks {
 public:
  /// Of about `bytes` bytes, or of one line where that is longer.
  LineBlocks(std::shared_ptr<arrow::io::InputStream> stream, std::int64_t bytes)
      : stream_(std::move(stream)), bytes_(bytes) {}

  /// Null at the end.
  arrow::Result<std::shared_ptr<arrow::Buffer>> next();
  /// How many lines came before the last block.
  std::int64_t lines_before() const { return lines_before_; }

 private:
  std::shared_ptr<arrow::io::InputStream> stream_;
  std::int64_t bytes_;
  std::string rest_;
  bool has_ended_ = false;
  std::int64_t lines_before_ = 0;
  std::int64_t lines_ = 0;  ///< Of the last block.
};

}  // namespace headway::flow
