#include "flow/same_columns.hpp"

namespace headway::flow {

std::shared_ptr<arrow::Schema> with_nulls(const arrow::Schema& schema) {
  arrow::FieldVector fields;
  for (const auto& field : schema.fields()) fields.push_back(field->WithNullable(true));
  return arrow::schema(std::move(fields), schema.metadata());
}

arrow::Status check_same_columns(const arrow::Schema& other, const arrow::Schema& schema, const std::string& of) {
  for (const auto& field : schema.fields()) {
    const auto found = other.GetFieldByName(field->name());
    if (!found) {
      return arrow::Status::Invalid(of, " lacks the column \"", field->name(),
                                    "\" of the first data set; all have the same columns");
    }
    if (!found->type()->Equals(*field->type())) {
      return arrow::Status::Invalid(of, " has the column \"", field->name(), "\" of type ", found->type()->ToString(),
                                    ", which the first data set has of type ", field->type()->ToString(),
                                    "; cast one of them");
    }
  }
  for (const auto& field : other.fields()) {
    if (schema.GetFieldIndex(field->name()) < 0) {
      return arrow::Status::Invalid(of, " has the column \"", field->name(),
                                    "\", which the first data set lacks; all have the same columns");
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> with_columns_of(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                                   const std::shared_ptr<arrow::Schema>& schema,
                                                                   const std::string& of) {
  if (rows->schema()->Equals(*schema, false)) return rows;
  ARROW_RETURN_NOT_OK(check_same_columns(*rows->schema(), *schema, of));
  arrow::ArrayVector columns;
  for (const auto& field : schema->fields()) columns.push_back(rows->GetColumnByName(field->name()));
  return arrow::RecordBatch::Make(schema, rows->num_rows(), std::move(columns));
}

}  // namespace headway::flow
