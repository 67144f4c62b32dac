#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <string_view>

/// Arrow's types by the names that `DataType::ToString` and pyarrow's `str(type)` give.
namespace headway::flow {

/// The type of a name such as `int32`, `float`, `double`, `string`, `date32[day]`, `timestamp[us,
/// tz=UTC]`, `decimal128(10, 2)`, `list<item: int64>`, `list<int64>`, `fixed_size_list<float>[3]`,
/// `struct<a: int64, b: string>`, `map<string, int64>`, `dictionary<values=string, indices=int32>`.
/// Also numpy's `float16`, `float32`, `float64` and `str`.
///
/// Errors: Invalid, with the name and what is allowed.
arrow::Result<std::shared_ptr<arrow::DataType>> type_of_name(std::string_view name);

}  // namespace headway::flow
