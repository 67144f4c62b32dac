#include "flow/sources/inference.hpp"

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <vector>

namespace headway::flow {
namespace {

using TypeResult = arrow::Result<std::shared_ptr<arrow::DataType>>;

bool is_plain(const arrow::DataType& type) { return type.num_fields() == 0; }

bool is_time(const arrow::DataType& type) {
  return type.id() == arrow::Type::TIMESTAMP || type.id() == arrow::Type::DATE32;
}

/// Of dates and timestamps; null when only text fits both.
std::shared_ptr<arrow::DataType> common_time(const arrow::DataType& one, const arrow::DataType& other) {
  const auto zone = [](const arrow::DataType& type) {
    return type.id() == arrow::Type::TIMESTAMP ? static_cast<const arrow::TimestampType&>(type).timezone() : "";
  };
  const auto unit = [](const arrow::DataType& type) {
    return type.id() == arrow::Type::TIMESTAMP ? static_cast<const arrow::TimestampType&>(type).unit()
                                               : arrow::TimeUnit::SECOND;
  };
  if (zone(one) != zone(other)) return nullptr;
  return arrow::timestamp(std::max(unit(one), unit(other)), zone(one));
}

TypeResult common_struct(const arrow::DataType& one, const arrow::DataType& other) {
  ARROW_ASSIGN_OR_RAISE(const auto joined, common_schema(arrow::Schema(one.fields()), arrow::Schema(other.fields())));
  return arrow::struct_(joined->fields());
}

}  // namespace

TypeResult common_type(const std::shared_ptr<arrow::DataType>& one, const std::shared_ptr<arrow::DataType>& other) {
  if (one->Equals(*other) || other->id() == arrow::Type::NA) return one;
  if (one->id() == arrow::Type::NA) return other;
  if (one->id() == arrow::Type::STRUCT && other->id() == arrow::Type::STRUCT) return common_struct(*one, *other);
  if (one->id() == arrow::Type::LIST && other->id() == arrow::Type::LIST) {
    ARROW_ASSIGN_OR_RAISE(auto value, common_type(one->field(0)->type(), other->field(0)->type()));
    return arrow::list(std::move(value));
  }
  if (!is_plain(*one) || !is_plain(*other)) {
    return arrow::Status::TypeError("it is ", one->ToString(), " in one place and ", other->ToString(), " in another");
  }
  if (arrow::is_numeric(one->id()) && arrow::is_numeric(other->id())) return arrow::float64();
  if (is_time(*one) && is_time(*other)) {
    if (auto time = common_time(*one, *other)) return time;
  }
  return arrow::utf8();
}

arrow::Result<std::shared_ptr<arrow::Schema>> common_schema(const arrow::Schema& one, const arrow::Schema& other) {
  arrow::FieldVector fields = one.fields();
  for (const auto& field : other.fields()) {
    const auto same =
        std::find_if(fields.begin(), fields.end(), [&](const auto& each) { return each->name() == field->name(); });
    if (same == fields.end()) {
      fields.push_back(field);
      continue;
    }
    auto type = common_type((*same)->type(), field->type());
    if (!type.ok()) return type.status().WithMessage("column ", field->name(), ": ", type.status().message());
    *same = (*same)->WithType(std::move(*type));
  }
  return arrow::schema(std::move(fields));
}

arrow::Status check_same_fields(const arrow::Schema& schema, const arrow::Schema& of_file) {
  for (const auto& field : schema.fields()) {
    if (of_file.GetFieldIndex(field->name()) >= 0) continue;
    return arrow::Status::Invalid("the column ", field->name(), " is missing");
  }
  for (const auto& field : of_file.fields()) {
    if (schema.GetFieldIndex(field->name()) >= 0) continue;
    return arrow::Status::Invalid("it has the additional column ", field->name(),
                                  "; the columns are those of the first file");
  }
  return arrow::Status::OK();
}

}  // namespace headway::flow
