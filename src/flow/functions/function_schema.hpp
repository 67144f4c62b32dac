#pragma once

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <memory>
#include <string>

namespace headway::flow {

/// Columns of categories with indices of 32 bits: pandas takes as few as the categories of one
/// batch need, and those of several batches do not go together then.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> with_wide_categories(std::shared_ptr<arrow::RecordBatch> batch);

/// `batch` with the schema that outputs of a function have: columns in its order, each of its type.
/// Numbers become wider, nulls and lists without elements of any type; a column that is missing is
/// no null column. Errors: name the column, what was expected and what was given.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> fitted(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                          const std::shared_ptr<arrow::Schema>& schema,
                                                          const std::string& name, const std::string& where);

/// A column's values as those of `type`. Errors: there is no such value, or no words at all where
/// types have nothing in common.
arrow::Result<std::shared_ptr<arrow::Array>> fitted_column(const std::shared_ptr<arrow::Array>& column,
                                                           const std::shared_ptr<arrow::DataType>& type);

}  // namespace headway::flow
