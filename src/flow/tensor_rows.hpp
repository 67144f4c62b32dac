#pragma once

#include <arrow/array/array_base.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <vector>

/// Columns with an array of numbers in each row: tensors of one shape, tensors whose shapes may
/// differ, and lists, which are arrays of one dimension.
namespace headway::flow {

/// Whether it is a column of tensors, of one shape or of several.
bool is_tensor(const arrow::DataType& type);
/// Whether their shapes may differ.
bool is_variable_tensor(const arrow::DataType& type);

/// The shape of the first row that is not null; empty where there is none. The array is of variable
/// tensors.
arrow::Result<std::vector<std::int64_t>> first_shape(const arrow::Array& tensors);

/// The same rows as another such type: lists, or tensors. Numbers are cast where that loses nothing
/// of them. Errors: a row has another shape than all rows of the type have, or another number of
/// dimensions; the message is about shapes alone.
arrow::Result<std::shared_ptr<arrow::Array>> with_row_type(const std::shared_ptr<arrow::Array>& column,
                                                           const std::shared_ptr<arrow::DataType>& type);

/// Lists in place of variable tensors of one dimension, which no other program reads: of files.
std::shared_ptr<arrow::Schema> with_lists(const std::shared_ptr<arrow::Schema>& schema);
arrow::Result<std::shared_ptr<arrow::RecordBatch>> with_lists(const std::shared_ptr<arrow::RecordBatch>& rows);

}  // namespace headway::flow
