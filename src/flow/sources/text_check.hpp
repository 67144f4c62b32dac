#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <optional>

namespace headway::flow {

/// The first row with text that is no UTF-8, in nested values too; nothing: there is none. Formats
/// such as Parquet have any bytes as text.
std::optional<std::int64_t> row_without_utf8(const arrow::Array& values);

}  // namespace headway::flow
