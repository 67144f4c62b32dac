#include "flow/tensor_rows.hpp"

#include <arrow/array/array_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/compute/api.h>
#include <arrow/compute/cast.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/variable_shape_tensor.h>
#include <arrow/extension_type.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

namespace headway::flow {
namespace {

using arrow::extension::FixedShapeTensorType;
using arrow::extension::VariableShapeTensorType;
using Shape = std::vector<std::int64_t>;
using ArrayResult = arrow::Result<std::shared_ptr<arrow::Array>>;

const FixedShapeTensorType* fixed_tensor(const arrow::DataType& type) {
  return dynamic_cast<const FixedShapeTensorType*>(&type);
}

const VariableShapeTensorType* variable_tensor(const arrow::DataType& type) {
  return dynamic_cast<const VariableShapeTensorType*>(&type);
}

std::string words_of(const Shape& shape) {
  std::string words;
  for (const std::int64_t length : shape) words += (words.empty() ? "" : ", ") + std::to_string(length);
  return "[" + words + "]";
}

std::int64_t size_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// The arrays of a column's rows, apart from how they are stored.
struct TensorRows {
  std::vector<Shape> shapes;  ///< Of each row; null ones are empty.
  std::vector<bool> valid;
  std::shared_ptr<arrow::Array> values;  ///< Of all rows that are not null, one after the other.
  std::size_t dimensions = 1;
};

TensorRows rows_of(const arrow::Array& column) {
  TensorRows rows;
  for (std::int64_t row = 0; row < column.length(); ++row) rows.valid.push_back(column.IsValid(row));
  return rows;
}

template <typename Lists>
arrow::Result<TensorRows> of_lists(const arrow::Array& column) {
  TensorRows rows = rows_of(column);
  const auto& lists = static_cast<const Lists&>(column);
  for (std::int64_t row = 0; row < column.length(); ++row) {
    rows.shapes.push_back(lists.IsValid(row) ? Shape{lists.value_length(row)} : Shape{});
  }
  ARROW_ASSIGN_OR_RAISE(rows.values, lists.Flatten());
  return rows;
}

arrow::Result<TensorRows> of_any_lists(const arrow::Array& column) {
  switch (column.type_id()) {
    case arrow::Type::LIST: return of_lists<arrow::ListArray>(column);
    case arrow::Type::LARGE_LIST: return of_lists<arrow::LargeListArray>(column);
    case arrow::Type::FIXED_SIZE_LIST: return of_lists<arrow::FixedSizeListArray>(column);
    default: return arrow::Status::TypeError("");
  }
}

arrow::Result<TensorRows> of_fixed(const arrow::ExtensionArray& column, const FixedShapeTensorType& type) {
  if (!std::is_sorted(type.permutation().begin(), type.permutation().end())) {
    return arrow::Status::Invalid("arrays whose dimensions are stored in another order");
  }
  TensorRows rows = rows_of(column);
  rows.dimensions = type.shape().size();
  for (const bool valid : rows.valid) rows.shapes.push_back(valid ? type.shape() : Shape{});
  ARROW_ASSIGN_OR_RAISE(rows.values, static_cast<const arrow::FixedSizeListArray&>(*column.storage()).Flatten());
  return rows;
}

arrow::Result<TensorRows> of_variable(const arrow::ExtensionArray& column, const VariableShapeTensorType& type) {
  const auto& storage = static_cast<const arrow::StructArray&>(*column.storage());
  ARROW_ASSIGN_OR_RAISE(const auto data, storage.GetFlattenedField(0));
  ARROW_ASSIGN_OR_RAISE(TensorRows rows, of_any_lists(*data));
  rows.valid = rows_of(column).valid;
  rows.dimensions = static_cast<std::size_t>(type.ndim());
  const auto& lengths = static_cast<const arrow::FixedSizeListArray&>(*storage.field(1));
  const auto& flat = static_cast<const arrow::Int32Array&>(*lengths.values());
  for (std::int64_t row = 0; row < column.length(); ++row) {
    Shape& shape = rows.shapes[static_cast<std::size_t>(row)];
    shape.clear();
    if (!rows.valid[static_cast<std::size_t>(row)]) continue;
    for (int i = 0; i < type.ndim(); ++i) shape.push_back(flat.Value(lengths.value_offset(row) + i));
  }
  return rows;
}

arrow::Result<TensorRows> parts_of(const std::shared_ptr<arrow::Array>& column) {
  const arrow::DataType& type = *column->type();
  if (const auto* fixed = fixed_tensor(type)) {
    return of_fixed(static_cast<const arrow::ExtensionArray&>(*column), *fixed);
  }
  if (const auto* variable = variable_tensor(type)) {
    return of_variable(static_cast<const arrow::ExtensionArray&>(*column), *variable);
  }
  return of_any_lists(*column);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> validity(const TensorRows& rows) {
  if (std::ranges::all_of(rows.valid, std::identity())) return nullptr;
  arrow::TypedBufferBuilder<bool> bits;
  for (const bool valid : rows.valid) ARROW_RETURN_NOT_OK(bits.Append(valid));
  return bits.Finish();
}

ArrayResult cast(const std::shared_ptr<arrow::Array>& values, const std::shared_ptr<arrow::DataType>& type) {
  if (values->type()->Equals(*type)) return values;
  return arrow::compute::Cast(*values, type, arrow::compute::CastOptions::Safe(type));
}

/// `type` is of lists with offsets of this type.
template <typename Offset>
ArrayResult lists(const TensorRows& rows, const std::shared_ptr<arrow::DataType>& type) {
  if (rows.dimensions != 1) {
    return arrow::Status::Invalid("arrays of ", rows.dimensions, " dimensions are no lists of numbers");
  }
  if (rows.values->length() > std::numeric_limits<Offset>::max()) {
    return arrow::Status::Invalid("more values than a piece's lists can have; make smaller batches");
  }
  arrow::TypedBufferBuilder<Offset> offsets;
  Offset end = 0;
  ARROW_RETURN_NOT_OK(offsets.Append(end));
  for (const Shape& shape : rows.shapes) {
    end += static_cast<Offset>(shape.empty() ? 0 : size_of(shape));
    ARROW_RETURN_NOT_OK(offsets.Append(end));
  }
  ARROW_ASSIGN_OR_RAISE(const auto buffer, offsets.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto values, cast(rows.values, type->field(0)->type()));
  ARROW_ASSIGN_OR_RAISE(const auto valid, validity(rows));
  const auto count = static_cast<std::int64_t>(rows.valid.size());
  return arrow::MakeArray(arrow::ArrayData::Make(type, count, {valid, buffer}, {values->data()}));
}

ArrayResult fixed(const TensorRows& rows, const FixedShapeTensorType& type) {
  for (std::size_t row = 0; row < rows.shapes.size(); ++row) {
    if (!rows.valid[row] || rows.shapes[row] == type.shape()) continue;
    return arrow::Status::Invalid("an array has the shape ", words_of(rows.shapes[row]), ", and those before it ",
                                  words_of(type.shape()),
                                  "; arrays of several shapes are a list of arrays, or an array of objects");
  }
  ARROW_ASSIGN_OR_RAISE(auto values, cast(rows.values, type.value_type()));
  ARROW_ASSIGN_OR_RAISE(const auto valid, validity(rows));
  if (valid != nullptr) {  // A row that is null has values here, too.
    arrow::Int64Builder places;
    std::int64_t next = 0;
    for (const bool is_valid : rows.valid) {
      for (std::int64_t i = size_of(type.shape()); i > 0; --i) {
        ARROW_RETURN_NOT_OK(is_valid ? places.Append(next++) : places.AppendNull());
      }
    }
    ARROW_ASSIGN_OR_RAISE(const auto taken, places.Finish());
    ARROW_ASSIGN_OR_RAISE(values, arrow::compute::Take(*values, *taken));
  }
  const auto count = static_cast<std::int64_t>(rows.valid.size());
  auto storage = arrow::ArrayData::Make(type.storage_type(), count, {valid}, {values->data()});
  return arrow::ExtensionType::WrapArray(type.GetSharedPtr(), arrow::MakeArray(storage));
}

ArrayResult variable(TensorRows rows, const VariableShapeTensorType& type) {
  if (rows.dimensions != static_cast<std::size_t>(type.ndim())) {
    return arrow::Status::Invalid("arrays of ", rows.dimensions, " dimensions, and those before of ", type.ndim());
  }
  arrow::Int32Builder lengths;
  for (const Shape& shape : rows.shapes) {
    for (int i = 0; i < type.ndim(); ++i) {
      const std::int64_t length = shape.empty() ? 0 : shape[static_cast<std::size_t>(i)];
      ARROW_RETURN_NOT_OK(lengths.Append(static_cast<std::int32_t>(length)));
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto flat, lengths.Finish());
  const auto count = static_cast<std::int64_t>(rows.valid.size());
  const auto& fields = type.storage_type()->fields();
  const auto shapes = arrow::ArrayData::Make(fields[1]->type(), count, {nullptr}, {flat->data()});
  ARROW_ASSIGN_OR_RAISE(const auto valid, validity(rows));
  TensorRows values = std::move(rows);
  values.dimensions = 1;
  values.valid.assign(values.valid.size(), true);
  ARROW_ASSIGN_OR_RAISE(const auto data, lists<std::int32_t>(values, fields[0]->type()));
  auto storage = arrow::ArrayData::Make(type.storage_type(), count, {valid}, {data->data(), shapes});
  return arrow::ExtensionType::WrapArray(type.GetSharedPtr(), arrow::MakeArray(storage));
}

std::shared_ptr<arrow::DataType> list_of(const std::shared_ptr<arrow::DataType>& type) {
  const auto* tensor = variable_tensor(*type);
  return tensor != nullptr && tensor->ndim() == 1 ? arrow::list(tensor->value_type()) : type;
}

}  // namespace

bool is_tensor(const arrow::DataType& type) {
  return fixed_tensor(type) != nullptr || variable_tensor(type) != nullptr;
}

bool is_variable_tensor(const arrow::DataType& type) { return variable_tensor(type) != nullptr; }

arrow::Result<Shape> first_shape(const arrow::Array& tensors) {
  const auto* type = variable_tensor(*tensors.type());
  if (type == nullptr) return arrow::Status::TypeError("no tensors whose shapes may differ");
  ARROW_ASSIGN_OR_RAISE(const TensorRows rows, of_variable(static_cast<const arrow::ExtensionArray&>(tensors), *type));
  for (std::size_t row = 0; row < rows.valid.size(); ++row) {
    if (rows.valid[row]) return rows.shapes[row];
  }
  return Shape{};
}

ArrayResult with_row_type(const std::shared_ptr<arrow::Array>& column, const std::shared_ptr<arrow::DataType>& type) {
  ARROW_ASSIGN_OR_RAISE(TensorRows rows, parts_of(column));
  if (const auto* tensor = fixed_tensor(*type)) return fixed(rows, *tensor);
  if (const auto* tensor = variable_tensor(*type)) return variable(std::move(rows), *tensor);
  if (type->id() == arrow::Type::LIST) return lists<std::int32_t>(rows, type);
  if (type->id() == arrow::Type::LARGE_LIST) return lists<std::int64_t>(rows, type);
  return arrow::Status::TypeError("");
}

std::shared_ptr<arrow::Schema> with_lists(const std::shared_ptr<arrow::Schema>& schema) {
  arrow::FieldVector fields;
  bool changed = false;
  for (const auto& field : schema->fields()) {
    const auto type = list_of(field->type());
    changed = changed || type != field->type();
    fields.push_back(type == field->type() ? field : field->WithType(type));
  }
  return changed ? arrow::schema(std::move(fields), schema->metadata()) : schema;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> with_lists(const std::shared_ptr<arrow::RecordBatch>& rows) {
  const auto schema = with_lists(rows->schema());
  if (schema == rows->schema()) return rows;
  arrow::ArrayVector columns;
  for (int i = 0; i < rows->num_columns(); ++i) {
    auto column = rows->column(i);
    const auto& type = schema->field(i)->type();
    if (column->type()->id() != type->id()) {
      ARROW_ASSIGN_OR_RAISE(column, with_row_type(column, type));
    }
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema, rows->num_rows(), std::move(columns));
}

}  // namespace headway::flow
