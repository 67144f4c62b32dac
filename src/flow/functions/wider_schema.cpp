#include "flow/functions/wider_schema.hpp"

#include "flow/tensor_rows.hpp"

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/variable_shape_tensor.h>

#include <string>
#include <string_view>

namespace headway::flow {
namespace {

using Type = std::shared_ptr<arrow::DataType>;

Type wider_type(const Type& type, const Type& other);

/// The type of tensors whose shapes may differ; null: they have other dimensions.
Type wider_tensor(const arrow::DataType& type, const arrow::DataType& other) {
  const auto* const tensor = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(&type);
  if (tensor == nullptr) return nullptr;
  std::size_t dimensions = 0;
  if (const auto* fixed = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(&other)) {
    dimensions = fixed->shape().size();
  } else if (const auto* variable = dynamic_cast<const arrow::extension::VariableShapeTensorType*>(&other)) {
    dimensions = static_cast<std::size_t>(variable->ndim());
  }
  if (dimensions != tensor->shape().size()) return nullptr;
  return arrow::extension::variable_shape_tensor(tensor->value_type(), static_cast<std::int32_t>(dimensions));
}

Type wider_struct(const Type& type, const arrow::StructType& other) {
  arrow::FieldVector fields = type->fields();
  for (auto& field : fields) {
    if (const auto found = other.GetFieldByName(field->name())) {
      field = field->WithType(wider_type(field->type(), found->type()));
    }
  }
  for (const auto& field : other.fields()) {
    if (!static_cast<const arrow::StructType&>(*type).GetFieldByName(field->name())) {
      fields.push_back(field->WithNullable(true));
    }
  }
  return arrow::struct_(fields);
}

Type wider_type(const Type& type, const Type& other) {
  if (type->Equals(*other)) return type;
  if (type->id() == arrow::Type::NA) return other;
  if (is_tensor(*type) && is_tensor(*other)) {
    const Type wider = wider_tensor(*type, *other);
    return wider ? wider : type;
  }
  if (type->id() == arrow::Type::LIST && other->id() == arrow::Type::LIST) {
    return arrow::list(type->field(0)->WithType(wider_type(type->field(0)->type(), other->field(0)->type())));
  }
  if (type->id() == arrow::Type::STRUCT && other->id() == arrow::Type::STRUCT) {
    return wider_struct(type, static_cast<const arrow::StructType&>(*other));
  }
  return type;
}

class Widened : public arrow::StatusDetail {
 public:
  const char* type_id() const override { return "headway::Widened"; }
  std::string ToString() const override { return "a function's outputs have a wider type"; }
};

}  // namespace

std::shared_ptr<arrow::Schema> wider_schema(const std::shared_ptr<arrow::Schema>& schema, const arrow::Schema& other) {
  arrow::FieldVector fields = schema->fields();
  for (auto& field : fields) {
    if (const auto found = other.GetFieldByName(field->name())) {
      field = field->WithType(wider_type(field->type(), found->type()));
    }
  }
  return arrow::schema(std::move(fields), schema->metadata());
}

bool is_wider(const arrow::DataType& to, const std::shared_ptr<arrow::DataType>& from) {
  const Type same(std::shared_ptr<void>(), const_cast<arrow::DataType*>(&to));
  return wider_type(from, same)->Equals(to);
}

arrow::Status schema_widened(const arrow::Status& misfit) { return misfit.WithDetail(std::make_shared<Widened>()); }

bool is_schema_widened(const arrow::Status& status) {
  return status.detail() && std::string_view(status.detail()->type_id()) == "headway::Widened";
}

}  // namespace headway::flow
