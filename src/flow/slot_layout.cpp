#include "flow/slot_batch.hpp"

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/type.h>

namespace headway::flow {
namespace {

using arrow::Type;

/// The same nested type with other types inside.
std::shared_ptr<arrow::DataType> with_children(const std::shared_ptr<arrow::DataType>& type,
                                               const arrow::FieldVector& children) {
  switch (type->id()) {
    case Type::LIST: return arrow::list(children[0]);
    case Type::LARGE_LIST: return arrow::large_list(children[0]);
    case Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(children[0], static_cast<const arrow::FixedSizeListType&>(*type).list_size());
    case Type::STRUCT: return arrow::struct_(children);
    case Type::MAP: return std::make_shared<arrow::MapType>(children[0]);
    default: return type;
  }
}

feed::LayoutColumn column_of(const arrow::Field& field) {
  const arrow::DataType& type = *field.type();
  if (type.id() == Type::EXTENSION) {
    if (const auto* tensor = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(&type)) {
      return {field.name(), tensor->value_type()->ToString(), tensor->shape()};
    }
  }
  return {field.name(), type.ToString(), {}};
}

}  // namespace

feed::Layout layout_of(const arrow::Schema& schema, std::uint32_t id) {
  feed::Layout layout;
  layout.id = id;
  for (const auto& field : schema.fields()) layout.columns.push_back(column_of(*field));
  return layout;
}

std::shared_ptr<arrow::DataType> slot_type(const std::shared_ptr<arrow::DataType>& type) {
  switch (type->id()) {
    case Type::DICTIONARY: return slot_type(static_cast<const arrow::DictionaryType&>(*type).value_type());
    case Type::RUN_END_ENCODED: return slot_type(static_cast<const arrow::RunEndEncodedType&>(*type).value_type());
    case Type::STRING_VIEW: return arrow::utf8();
    case Type::BINARY_VIEW: return arrow::binary();
    case Type::LIST_VIEW: return arrow::list(static_cast<const arrow::ListViewType&>(*type).value_type());
    case Type::LARGE_LIST_VIEW:
      return arrow::large_list(static_cast<const arrow::LargeListViewType&>(*type).value_type());
    default: break;
  }
  bool changed = false;
  arrow::FieldVector children;
  for (const auto& field : type->fields()) {
    const auto inner = slot_type(field->type());
    changed = changed || inner != field->type();
    children.push_back(field->WithType(inner));
  }
  return changed ? with_children(type, children) : type;
}

std::shared_ptr<arrow::Schema> slot_schema(const std::shared_ptr<arrow::Schema>& schema) {
  bool changed = false;
  arrow::FieldVector fields;
  for (const auto& field : schema->fields()) {
    const auto type = slot_type(field->type());
    changed = changed || type != field->type();
    fields.push_back(type == field->type() ? field : field->WithType(type));
  }
  return changed ? arrow::schema(std::move(fields), schema->metadata()) : schema;
}

}  // namespace headway::flow
