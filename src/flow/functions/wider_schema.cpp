#include "flow/functions/wider_schema.hpp"

#include "data/wider_number.hpp"
#include "flow/tensor_rows.hpp"

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/variable_shape_tensor.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using Type = std::shared_ptr<arrow::DataType>;

Type wider_type(const Type& type, const Type& other);

using arrow::extension::FixedShapeTensorType;
using arrow::extension::VariableShapeTensorType;

/// Of tensors of any kind.
struct TensorKind {
  Type values;
  std::size_t dimensions;
  std::vector<std::int64_t> shape;  ///< Empty: shapes may differ.
};

TensorKind kind_of(const arrow::DataType& type) {
  if (const auto* fixed = dynamic_cast<const FixedShapeTensorType*>(&type)) {
    return {fixed->value_type(), fixed->shape().size(), fixed->shape()};
  }
  const auto& variable = dynamic_cast<const VariableShapeTensorType&>(type);
  return {variable.value_type(), static_cast<std::size_t>(variable.ndim()), {}};
}

/// Tensors whose shapes may differ, unless both have one; null: they have other dimensions.
Type wider_tensor(const arrow::DataType& type, const arrow::DataType& other) {
  const TensorKind kind = kind_of(type);
  const TensorKind others = kind_of(other);
  if (kind.dimensions != others.dimensions) return nullptr;
  const Type values = wider_type(kind.values, others.values);
  if (!kind.shape.empty() && kind.shape == others.shape) {
    return arrow::extension::fixed_shape_tensor(values, kind.shape);
  }
  return arrow::extension::variable_shape_tensor(values, static_cast<std::int32_t>(kind.dimensions));
}

/// The type of numbers that has both; null: none has, or they are no numbers.
Type wider_number(const Type& type, const Type& other) {
  const auto name = data::wider_number(type->ToString(), other->ToString());
  for (const Type& each : arrow::NumericTypes()) {
    if (name && each->ToString() == *name) return each;
  }
  return nullptr;
}

/// Text or bytes of any length; null: they are neither.
Type wider_bytes(const Type& type, const Type& other) {
  using arrow::Type;
  const auto are = [&](Type::type small, Type::type large) {
    return (type->id() == small && other->id() == large) || (type->id() == large && other->id() == small);
  };
  if (are(Type::STRING, Type::LARGE_STRING)) return arrow::large_utf8();
  return are(Type::BINARY, Type::LARGE_BINARY) ? arrow::large_binary() : nullptr;
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
  if (type->Equals(*other) || !keeps_bytes_in_arrays(*type, *other)) return type;
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
  for (const auto wider_of : {wider_number, wider_bytes}) {
    if (const Type wider = wider_of(type, other)) return wider;
  }
  return type;
}

/// Of lists and tensors; null: the type is neither.
Type element_of(const arrow::DataType& type) {
  if (is_tensor(type)) return kind_of(type).values;
  return arrow::is_list_like(type.id()) ? type.field(0)->type() : nullptr;
}

bool keeps_bytes(const arrow::DataType& from, const arrow::DataType& to, bool in_array) {
  if (in_array && arrow::is_numeric(from.id()) && arrow::is_numeric(to.id())) {
    return from.Equals(to) || (from.bit_width() > 8 && to.bit_width() > 8);
  }
  const Type element = element_of(from);
  const Type other = element_of(to);
  if (element && other) return keeps_bytes(*element, *other, true);
  if (from.id() != arrow::Type::STRUCT || to.id() != arrow::Type::STRUCT) return true;
  return std::ranges::all_of(from.fields(), [&](const auto& field) {
    const auto found = static_cast<const arrow::StructType&>(to).GetFieldByName(field->name());
    return !found || keeps_bytes(*field->type(), *found->type(), in_array);
  });
}

class Widened : public arrow::StatusDetail {
 public:
  explicit Widened(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema)) {}
  const char* type_id() const override { return "headway::Widened"; }
  std::string ToString() const override { return "later rows have wider types"; }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

 private:
  std::shared_ptr<arrow::Schema> schema_;
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

bool keeps_bytes_in_arrays(const arrow::DataType& from, const arrow::DataType& to) {
  return keeps_bytes(from, to, false);
}

bool is_wider(const std::shared_ptr<arrow::DataType>& to, const std::shared_ptr<arrow::DataType>& from) {
  return wider_type(from, to)->Equals(*to);
}

arrow::Status schema_widened(const arrow::Status& misfit, std::shared_ptr<arrow::Schema> schema) {
  return misfit.WithDetail(std::make_shared<Widened>(std::move(schema)));
}

bool is_schema_widened(const arrow::Status& status) {
  return status.detail() && std::string_view(status.detail()->type_id()) == "headway::Widened";
}

std::shared_ptr<arrow::Schema> widened_schema(const arrow::Status& status) {
  return is_schema_widened(status) ? static_cast<const Widened&>(*status.detail()).schema() : nullptr;
}

}  // namespace headway::flow
