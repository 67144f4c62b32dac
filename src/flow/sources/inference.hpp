#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace headway::flow {

/// A type for the values of both: the same; the other one of null; double for numbers; the finer of
/// two timestamps; field by field for structs; else string. Nothing fits: an error that names the
/// types.
arrow::Result<std::shared_ptr<arrow::DataType>> common_type(const std::shared_ptr<arrow::DataType>& one,
                                                            const std::shared_ptr<arrow::DataType>& other);

/// The fields of both, in the order of `one`, each with the type that fits both.
arrow::Result<std::shared_ptr<arrow::Schema>> common_schema(const arrow::Schema& one, const arrow::Schema& other);

/// Whether a file has the fields of the schema and no others, whatever their types and order.
/// Errors: Invalid, which names the first that is missing or additional.
arrow::Status check_same_fields(const arrow::Schema& schema, const arrow::Schema& of_file);

}  // namespace headway::flow
