#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <boost/json/value.hpp>

#include <memory>
#include <vector>

/// JSON values as Arrow's.
namespace headway::flow {

/// A literal as Python's pyarrow would infer it: int64 (uint64 where it needs that), double,
/// string, bool, null; a list is a list of such. With a type: cast to it, text being parsed (dates
/// and times as ISO 8601); `{"base64": text}` is binary.
///
/// Errors: Invalid, with the value and the type.
arrow::Result<std::shared_ptr<arrow::Scalar>> scalar_of(const boost::json::value& value,
                                                        const std::shared_ptr<arrow::DataType>& type = nullptr);

/// Values of one type as an array. Numbers of both kinds make doubles.
arrow::Result<std::shared_ptr<arrow::Array>> array_of(const boost::json::array& values,
                                                      const std::shared_ptr<arrow::DataType>& type = nullptr);

}  // namespace headway::flow
