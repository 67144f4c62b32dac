#include "flow/same_columns.hpp"

#include "flow/functions/function_schema.hpp"
#include "flow/functions/wider_schema.hpp"

namespace headway::flow {

std::shared_ptr<arrow::Schema> with_nulls(const arrow::Schema& schema) {
  arrow::FieldVector fields;
  for (const auto& field : schema.fields()) fields.push_back(field->WithNullable(true));
  return arrow::schema(std::move(fields), schema.metadata());
}

std::shared_ptr<arrow::Schema> common_columns(const std::shared_ptr<arrow::Schema>& before,
                                              const std::shared_ptr<arrow::Schema>& next) {
  if (next == nullptr) return before;
  return before == nullptr ? with_nulls(*next) : wider_schema(before, *next);
}

arrow::Status check_same_columns(const arrow::Schema& other, const arrow::Schema& schema, const std::string& of) {
  for (const auto& field : schema.fields()) {
    const auto found = other.GetFieldByName(field->name());
    if (!found) {
      return arrow::Status::Invalid(of, " lacks the column \"", field->name(),
                                    "\" of the first data set; all have the same columns");
    }
    if (!is_wider(field->type(), found->type())) {
      auto misfit = arrow::Status::Invalid(of, " has the column \"", field->name(), "\" of type ",
                                           found->type()->ToString(), ", which the first data set has of type ",
                                           field->type()->ToString(), "; cast one of them");
      const auto wider = wider_schema(arrow::schema({field}), *arrow::schema({found}))->field(0)->type();
      return is_wider(wider, field->type()) && is_wider(wider, found->type()) ? schema_widened(misfit) : misfit;
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
  for (const auto& field : schema->fields()) {
    const auto column = rows->GetColumnByName(field->name());
    auto fit = fitted_column(column, field->type());
    if (!fit.ok()) {
      const std::string why = fit.status().message();
      return arrow::Status::TypeError(of, " has the column \"", field->name(), "\" of type ",
                                      column->type()->ToString(), ", and the data sets together have it of type ",
                                      field->type()->ToString(), ", which lacks values of it",
                                      why.empty() ? "" : " (" + why + ")", "; cast the column in one of them");
    }
    columns.push_back(fit.MoveValueUnsafe());
  }
  return arrow::RecordBatch::Make(schema, rows->num_rows(), std::move(columns));
}

}  // namespace headway::flow
