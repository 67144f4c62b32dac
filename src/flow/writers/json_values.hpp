#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>

namespace headway::flow {

/// The values of an array as JSON text. Bytes are text in base64, dates and times ISO 8601, other
/// types without a JSON form the text that Arrow casts them to; tensors are nested lists. NaN and
/// infinities, which JSON lacks, are null.
class JsonValues {
 public:
  /// Errors: NotImplemented, with the type. `array` is kept.
  static arrow::Result<std::unique_ptr<JsonValues>> of(const std::shared_ptr<arrow::Array>& array,
                                                       arrow::MemoryPool* pool);
  JsonValues() = default;
  JsonValues(const JsonValues&) = delete;
  JsonValues& operator=(const JsonValues&) = delete;
  virtual ~JsonValues() = default;

  virtual void append(std::int64_t row, std::string& out) const = 0;
};

/// With quotes and escapes.
void append_json_text(std::string_view text, std::string& out);

}  // namespace headway::flow
