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

/// The rows with the columns in the order of `schema`. Errors: another column or type; `of` says
/// whose.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> with_columns_of(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                                   const std::shared_ptr<arrow::Schema>& schema,
                                                                   const std::string& of);

/// Errors: `other` has other columns or types than `schema`; `of` says whose.
arrow::Status check_same_columns(const arrow::Schema& other, const arrow::Schema& schema, const std::string& of);

}  // namespace headway::flow
