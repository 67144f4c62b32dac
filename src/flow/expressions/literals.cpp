#include "flow/expressions/literals.hpp"

#include "core/json_text.hpp"

#include <arrow/array/builder_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/scalar.h>
#include <arrow/util/base64.h>

#include <boost/json.hpp>

namespace headway::flow {
namespace {

namespace json = boost::json;
using ScalarResult = arrow::Result<std::shared_ptr<arrow::Scalar>>;

ScalarResult list_scalar(const json::array& values) {
  ARROW_ASSIGN_OR_RAISE(auto array, array_of(values));
  return std::make_shared<arrow::ListScalar>(std::move(array));
}

/// `{"base64": text}`
ScalarResult object_scalar(const json::object& object) {
  const json::value* text = object.if_contains("base64");
  if (object.size() != 1 || text == nullptr || !text->is_string()) {
    return arrow::Status::Invalid(
        "a literal is null, a number, text, true or false, a list of these, or "
        "{\"base64\": text}; found ",
        json_text(object));
  }
  ARROW_ASSIGN_OR_RAISE(std::string bytes, arrow::util::base64_decode(std::string_view(text->get_string())));
  return std::make_shared<arrow::BinaryScalar>(arrow::Buffer::FromString(std::move(bytes)));
}

ScalarResult untyped(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return arrow::MakeNullScalar(arrow::null());
    case json::kind::bool_: return arrow::MakeScalar(value.get_bool());
    case json::kind::int64: return arrow::MakeScalar(value.get_int64());
    case json::kind::uint64: return arrow::MakeScalar(value.get_uint64());
    case json::kind::double_: return arrow::MakeScalar(value.get_double());
    case json::kind::string: return arrow::MakeScalar(std::string(value.get_string()));
    case json::kind::array: return list_scalar(value.get_array());
    case json::kind::object: return object_scalar(value.get_object());
  }
  return arrow::Status::Invalid("a literal of an unknown kind");
}

bool is_text(arrow::Type::type id) { return arrow::is_base_binary_like(id); }

/// The type that values of both types can be cast to, as far as JSON makes a difference.
std::shared_ptr<arrow::DataType> common_type(const std::shared_ptr<arrow::DataType>& one,
                                             const std::shared_ptr<arrow::DataType>& other) {
  if (one == nullptr || one->id() == arrow::Type::NA) return other;
  if (other->id() == arrow::Type::NA || one->Equals(other)) return one;
  const bool numbers = arrow::is_numeric(one->id()) && arrow::is_numeric(other->id());
  return numbers ? arrow::float64() : nullptr;
}

}  // namespace

ScalarResult scalar_of(const json::value& value, const std::shared_ptr<arrow::DataType>& type) {
  ARROW_ASSIGN_OR_RAISE(auto scalar, untyped(value));
  if (type == nullptr || scalar->type->Equals(*type)) return scalar;
  if (!scalar->is_valid) return arrow::MakeNullScalar(type);
  // Text becomes a decimal number by a cast alone.
  if (value.is_string() && !is_text(type->id()) && !arrow::is_decimal(type->id())) {
    auto parsed = arrow::Scalar::Parse(type, std::string_view(value.get_string()));
    if (parsed.ok()) return parsed;
    return arrow::Status::Invalid("the literal ", json_text(value), " is no ", type->ToString());
  }
  const auto cast = arrow::compute::Cast(arrow::Datum(scalar), type);
  if (!cast.ok()) {
    return arrow::Status::Invalid("the literal ", json_text(value), " is no ", type->ToString(), ": ",
                                  cast.status().message());
  }
  return cast->scalar();
}

arrow::Result<std::shared_ptr<arrow::Array>> array_of(const json::array& values,
                                                      const std::shared_ptr<arrow::DataType>& type) {
  arrow::ScalarVector scalars;
  scalars.reserve(values.size());
  std::shared_ptr<arrow::DataType> common = type;
  for (const json::value& value : values) {
    ARROW_ASSIGN_OR_RAISE(auto scalar, scalar_of(value, type));
    if (type == nullptr) {
      auto next = common_type(common, scalar->type);
      if (next == nullptr) {
        return arrow::Status::Invalid("the values of a list have one type; ", json_text(value), " is ",
                                      scalar->type->ToString(), " and others are ", common->ToString());
      }
      common = std::move(next);
    }
    scalars.push_back(std::move(scalar));
  }
  if (common == nullptr) common = arrow::null();
  std::unique_ptr<arrow::ArrayBuilder> builder;
  ARROW_RETURN_NOT_OK(arrow::MakeBuilder(arrow::default_memory_pool(), common, &builder));
  for (auto& scalar : scalars) {
    if (!scalar->type->Equals(*common)) {
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, arrow::compute::Cast(arrow::Datum(scalar), common));
      scalar = cast.scalar();
    }
    ARROW_RETURN_NOT_OK(builder->AppendScalar(*scalar));
  }
  return builder->Finish();
}

}  // namespace headway::flow
