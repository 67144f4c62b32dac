#include "flow/functions/function_schema.hpp"

#include "flow/functions/wider_schema.hpp"
#include "flow/tensor_rows.hpp"

#include <arrow/array/array_base.h>
#include <arrow/array/array_dict.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/compute/api.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/type_traits.h>

namespace headway::flow {
namespace {

using arrow::Type;

std::shared_ptr<arrow::DataType> storage_of(const std::shared_ptr<arrow::DataType>& type) {
  if (type->id() != Type::EXTENSION) return type;
  return static_cast<const arrow::ExtensionType&>(*type).storage_type();
}

/// Whether every value of `from` has one of `to` that is equal to it, except large integers, which
/// are an error as floats.
bool widens(const std::shared_ptr<arrow::DataType>& from, const std::shared_ptr<arrow::DataType>& to) {
  if (from->Equals(*to) || from->id() == Type::NA) return true;
  if (arrow::is_integer(from->id()) && arrow::is_integer(to->id())) {
    const bool to_signed = arrow::is_signed_integer(to->id());
    if (arrow::is_signed_integer(from->id()) == to_signed) return from->bit_width() <= to->bit_width();
    return to_signed && from->bit_width() < to->bit_width();
  }
  if (arrow::is_integer(from->id())) return to->id() == Type::DOUBLE || to->id() == Type::FLOAT;
  if (arrow::is_floating(from->id()) && arrow::is_floating(to->id())) return from->bit_width() <= to->bit_width();
  if (from->id() == Type::STRING) return to->id() == Type::LARGE_STRING;
  if (from->id() == Type::BINARY) return to->id() == Type::LARGE_BINARY;
  if (from->id() == Type::DICTIONARY) {
    return widens(static_cast<const arrow::DictionaryType&>(*from).value_type(), to);
  }
  const bool lists = (from->id() == Type::LIST || from->id() == Type::FIXED_SIZE_LIST) &&
                     (to->id() == Type::LIST || to->id() == Type::LARGE_LIST);
  if (lists) return widens(from->field(0)->type(), to->field(0)->type());
  if (from->id() == Type::STRUCT && to->id() == Type::STRUCT) {
    for (const auto& field : from->fields()) {
      const auto found = static_cast<const arrow::StructType&>(*to).GetFieldByName(field->name());
      if (!found || !widens(field->type(), found->type())) return false;
    }
    return true;
  }
  return false;
}

/// Whether values are numbers that may be integers by chance: a function that goes through pandas
/// or numpy gives integers as floats where one of them is missing.
bool may_be_integers(const std::shared_ptr<arrow::DataType>& from, const std::shared_ptr<arrow::DataType>& to) {
  return (arrow::is_integer(from->id()) || arrow::is_floating(from->id())) && arrow::is_integer(to->id());
}

/// Numbers as integers, and NaN as null. Errors: a number that the type does not have.
arrow::Result<std::shared_ptr<arrow::Array>> as_integers(const std::shared_ptr<arrow::Array>& column,
                                                         const std::shared_ptr<arrow::DataType>& type) {
  std::shared_ptr<arrow::Array> values = column;
  if (arrow::is_floating(column->type_id())) {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum missing, arrow::compute::CallFunction("is_nan", {column}));
    ARROW_ASSIGN_OR_RAISE(const auto null, arrow::MakeArrayOfNull(column->type(), 1));
    ARROW_ASSIGN_OR_RAISE(const auto none, null->GetScalar(0));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum known, arrow::compute::CallFunction("if_else", {missing, none, column}));
    values = known.make_array();
  }
  return arrow::compute::Cast(*values, type, arrow::compute::CastOptions::Safe(type));
}

/// Lists of numbers as lists of integers.
arrow::Result<std::shared_ptr<arrow::Array>> as_integer_lists(const std::shared_ptr<arrow::Array>& column,
                                                              const std::shared_ptr<arrow::DataType>& type) {
  const auto& lists = static_cast<const arrow::ListArray&>(*column);
  ARROW_ASSIGN_OR_RAISE(const auto values, as_integers(lists.values(), type->field(0)->type()));
  auto data = column->data()->Copy();
  data->type = type;
  data->child_data = {values->data()};
  return arrow::MakeArray(data);
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> fitted_column(const std::shared_ptr<arrow::Array>& column,
                                                           const std::shared_ptr<arrow::DataType>& type) {
  if (column->type()->Equals(*type)) return column;
  if (!keeps_bytes_in_arrays(*column->type(), *type)) {
    return arrow::Status::TypeError("arrays of 8-bit numbers do not become others: make all of one dtype");
  }
  if (is_tensor(*type) || is_tensor(*column->type())) {
    if (column->type_id() != Type::NA) return with_row_type(column, type);
    return arrow::MakeArrayOfNull(type, column->length());
  }
  const auto from = storage_of(column->type());
  const auto to = storage_of(type);
  if (from->Equals(*to)) {
    auto data = column->data()->Copy();
    data->type = type;
    return arrow::MakeArray(data);
  }
  if (from->id() == Type::NA) return arrow::MakeArrayOfNull(type, column->length());
  if (type->id() != Type::EXTENSION && !widens(from, to)) {
    if (may_be_integers(from, to)) return as_integers(column, to);
    // With more digits behind the point than the first output had, it fails.
    if (arrow::is_decimal(from->id()) && arrow::is_decimal(to->id())) return arrow::compute::Cast(*column, to);
    const bool lists = from->id() == Type::LIST && to->id() == Type::LIST;
    if (lists && may_be_integers(from->field(0)->type(), to->field(0)->type())) return as_integer_lists(column, to);
  }
  if (type->id() == Type::EXTENSION || !widens(from, to)) return arrow::Status::TypeError("");
  return arrow::compute::Cast(*column, to, arrow::compute::CastOptions::Safe(to));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> with_wide_categories(std::shared_ptr<arrow::RecordBatch> batch) {
  for (int i = 0; i < batch->num_columns(); ++i) {
    const auto field = batch->schema()->field(i);
    if (field->type()->id() != Type::DICTIONARY) continue;
    const auto& type = static_cast<const arrow::DictionaryType&>(*field->type());
    if (type.index_type()->bit_width() >= 32) continue;
    const auto& column = static_cast<const arrow::DictionaryArray&>(*batch->column(i));
    const auto wide = arrow::dictionary(arrow::int32(), type.value_type(), type.ordered());
    ARROW_ASSIGN_OR_RAISE(const auto indices, arrow::compute::Cast(*column.indices(), arrow::int32()));
    ARROW_ASSIGN_OR_RAISE(const auto made, arrow::DictionaryArray::FromArrays(wide, indices, column.dictionary()));
    ARROW_ASSIGN_OR_RAISE(batch, batch->SetColumn(i, field->WithType(wide), made));
  }
  return batch;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> fitted(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                          const std::shared_ptr<arrow::Schema>& schema,
                                                          const std::string& name, const std::string& where) {
  if (batch->schema()->Equals(*schema, false)) return batch;
  const std::string place = where.empty() ? name : name + ", " + where;
  for (const auto& field : batch->schema()->fields()) {
    if (schema->GetFieldIndex(field->name()) < 0) {
      return arrow::Status::TypeError(place, ": the output has a column \"", field->name(),
                                      "\" that the first output did not have");
    }
  }
  arrow::ArrayVector columns;
  for (const auto& field : schema->fields()) {
    const auto column = batch->GetColumnByName(field->name());
    if (!column) {
      return arrow::Status::TypeError(place, ": the output lacks the column \"", field->name(),
                                      "\" that the first output had");
    }
    auto fit = fitted_column(column, field->type());
    if (!fit.ok()) {
      const std::string why = fit.status().message();
      return arrow::Status::TypeError(
          place, ": column \"", field->name(), "\" is ", column->type()->ToString(), "; expected ",
          field->type()->ToString(), ", as in the first output", why.empty() ? "" : " (" + why + ")",
          field->type()->id() == Type::NA ? ", where it had only None: give it a type there, as an array with a dtype"
                                          : "");
    }
    columns.push_back(fit.MoveValueUnsafe());
  }
  return arrow::RecordBatch::Make(schema, batch->num_rows(), std::move(columns));
}

}  // namespace headway::flow
