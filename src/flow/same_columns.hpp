#pragma once

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <memory>
#include <string>

/// Rows of several inputs of a data set, which have the same columns.
namespace headway::flow {

/// The columns, each of which may have nulls: another input may have some.
std::shared_ptr<arrow::Schema> with_nulls(const arrow::Schema& schema);

/// Of the inputs before (null: there is none) and the next one (null: only its rows show it), with
/// types that have the values of both, where there are any.
std::shared_ptr<arrow::Schema> common_columns(const std::shared_ptr<arrow::Schema>& before,
                                              const std::shared_ptr<arrow::Schema>& next);

/// The rows with the columns in the order of `schema`. Errors: another column or type; `of` says
/// whose.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> with_columns_of(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                                   const std::shared_ptr<arrow::Schema>& schema,
                                                                   const std::string& of);

/// Errors: `other` has other columns or types than `schema`; `of` says whose. Where wider types
/// have the values of both, `is_schema_widened`: when the stages are made again, the types of
/// functions are known.
arrow::Status check_same_columns(const arrow::Schema& other, const arrow::Schema& schema, const std::string& of);

}  // namespace headway::flow
