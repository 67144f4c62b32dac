#include "flow/expressions/own_functions.hpp"

#include "core/json_text.hpp"
#include "flow/expressions/list_functions.hpp"
#include "flow/expressions/literals.hpp"
#include "flow/expressions/row_functions.hpp"
#include "flow/expressions/type_names.hpp"

#include <arrow/array/array_decimal.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace headway::flow {
namespace {

namespace json = boost::json;
namespace cp = arrow::compute;
using DatumResult = arrow::Result<arrow::Datum>;
using Arguments = std::vector<arrow::Datum>;
using Made = arrow::Result<OwnFunction>;

DatumResult call_kernel(const char* name, const Arguments& args, const CallPlace& place) {
  cp::ExecContext context(place.pool);
  return cp::CallFunction(name, args, &context);
}

/// Texts one after the other; null where one is.
DatumResult add(const Arguments& args, const CallPlace& place) {
  const auto is_text = [](const arrow::Datum& one) { return arrow::is_base_binary_like(one.type()->id()); };
  if (!is_text(args[0]) || !is_text(args[1])) return call_kernel("add", args, place);
  const bool text = arrow::is_string(args[0].type()->id()) && arrow::is_string(args[1].type()->id());
  const bool large = !arrow::is_binary_like(args[0].type()->id()) || !arrow::is_binary_like(args[1].type()->id());
  const auto small_type = text ? arrow::utf8() : arrow::binary();
  const auto type = large ? (text ? arrow::large_utf8() : arrow::large_binary()) : small_type;
  cp::ExecContext context(place.pool);
  Arguments parts;
  for (const arrow::Datum& one : args) {
    ARROW_ASSIGN_OR_RAISE(arrow::Datum part, cp::Cast(one, type, cp::CastOptions::Safe(), &context));
    parts.push_back(std::move(part));
  }
  ARROW_ASSIGN_OR_RAISE(const auto nothing, arrow::MakeScalar(std::string())->CastTo(type));
  parts.emplace_back(nothing);
  return call_kernel("binary_join_element_wise", parts, place);
}

bool whole_numbers(const Arguments& args) {
  return arrow::is_integer(args[0].type()->id()) && arrow::is_integer(args[1].type()->id());
}

DatumResult true_divide(const Arguments& args, const CallPlace& place) {
  cp::ExecContext context(place.pool);
  Arguments doubles;
  for (const arrow::Datum& one : args) {
    if (!arrow::is_numeric(one.type()->id())) return call_kernel("divide", args, place);
    ARROW_ASSIGN_OR_RAISE(arrow::Datum cast, cp::Cast(one, arrow::float64(), cp::CastOptions::Unsafe(), &context));
    doubles.push_back(std::move(cast));
  }
  return call_kernel("divide", doubles, place);
}

/// The quotient that is rounded towards zero is one too large where there is a rest and the signs
/// differ.
DatumResult floor_divide(const Arguments& args, const CallPlace& place) {
  if (!whole_numbers(args)) {
    ARROW_ASSIGN_OR_RAISE(arrow::Datum quotient, call_kernel("divide", args, place));
    return call_kernel("floor", {quotient}, place);
  }
  ARROW_ASSIGN_OR_RAISE(arrow::Datum quotient, call_kernel("divide_checked", args, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum whole, call_kernel("multiply", {quotient, args[1]}, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum rest, call_kernel("subtract", {args[0], whole}, place));
  const arrow::Datum zero(std::int64_t{0});
  ARROW_ASSIGN_OR_RAISE(arrow::Datum has_rest, call_kernel("not_equal", {rest, zero}, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum rest_below, call_kernel("less", {rest, zero}, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum divisor_below, call_kernel("less", {args[1], zero}, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum signs_differ, call_kernel("xor", {rest_below, divisor_below}, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum too_large, call_kernel("and", {has_rest, signs_differ}, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum one, cp::Cast(too_large, quotient.type()));
  return call_kernel("subtract", {quotient, one}, place);
}

bool is_decimal_or_integer(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_decimal(type.id());
}

std::int32_t scale_of(const arrow::DataType& type) {
  return arrow::is_decimal(type.id()) ? static_cast<const arrow::DecimalType&>(type).scale() : 0;
}

/// The rest has as many digits before the point as the divisor, and as many behind it as the
/// number with more of them.
arrow::Result<std::shared_ptr<arrow::DataType>> rest_type(const arrow::DataType& divisor, std::int32_t scale) {
  const bool is_decimal = arrow::is_decimal(divisor.id());
  const std::int32_t digits = is_decimal ? static_cast<const arrow::DecimalType&>(divisor).precision() : 20;
  const std::int32_t precision = digits - scale_of(divisor) + scale;
  if (precision <= arrow::Decimal128Type::kMaxPrecision) return arrow::Decimal128Type::Make(precision, scale);
  return arrow::Decimal256Type::Make(std::min(precision, arrow::Decimal256Type::kMaxPrecision), scale);
}

/// The values of an array, or of a scalar for each row.
std::optional<arrow::Decimal256> decimal_at(const arrow::Datum& values, std::int64_t row) {
  if (values.is_scalar()) {
    const auto& scalar = values.scalar_as<arrow::Decimal256Scalar>();
    return scalar.is_valid ? std::optional(scalar.value) : std::nullopt;
  }
  const auto array = values.array_as<arrow::Decimal256Array>();
  return array->IsValid(row) ? std::optional(arrow::Decimal256(array->GetValue(row))) : std::nullopt;
}

/// Of decimals, and of integers beside them. By products, as for others, the types would have more
/// digits than there are.
DatumResult decimal_modulo(const Arguments& args, const CallPlace& place) {
  const std::int32_t scale = std::max(scale_of(*args[0].type()), scale_of(*args[1].type()));
  ARROW_ASSIGN_OR_RAISE(const auto made_type, rest_type(*args[1].type(), scale));
  ARROW_ASSIGN_OR_RAISE(const auto wide, arrow::Decimal256Type::Make(arrow::Decimal256Type::kMaxPrecision, scale));
  cp::ExecContext context(place.pool);
  ARROW_ASSIGN_OR_RAISE(const auto numbers, cp::Cast(args[0], wide, cp::CastOptions::Safe(), &context));
  ARROW_ASSIGN_OR_RAISE(const auto divisors, cp::Cast(args[1], wide, cp::CastOptions::Safe(), &context));
  const bool is_scalar = numbers.is_scalar() && divisors.is_scalar();
  const std::int64_t rows = is_scalar ? 1 : numbers.is_scalar() ? divisors.length() : numbers.length();
  arrow::Decimal256Builder rests(wide, place.pool);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto number = decimal_at(numbers, row);
    const auto divisor = decimal_at(divisors, row);
    if (!number || !divisor) {
      ARROW_RETURN_NOT_OK(rests.AppendNull());
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const auto divided, number->Divide(*divisor));
    arrow::Decimal256 rest = divided.second;
    if (rest != arrow::Decimal256(0) && rest.Sign() != divisor->Sign()) rest += *divisor;
    ARROW_RETURN_NOT_OK(rests.Append(rest));
  }
  ARROW_ASSIGN_OR_RAISE(const auto made, rests.Finish());
  ARROW_ASSIGN_OR_RAISE(arrow::Datum cast, cp::Cast(made, made_type, cp::CastOptions::Safe(), &context));
  if (!is_scalar) return cast;
  return cast.make_array()->GetScalar(0);
}

DatumResult modulo(const Arguments& args, const CallPlace& place) {
  const bool exact = is_decimal_or_integer(*args[0].type()) && is_decimal_or_integer(*args[1].type());
  if (exact && !whole_numbers(args)) return decimal_modulo(args, place);
  ARROW_ASSIGN_OR_RAISE(arrow::Datum quotient, floor_divide(args, place));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum whole, call_kernel("multiply", {quotient, args[1]}, place));
  return call_kernel("subtract", {args[0], whole}, place);
}

const json::value* option(const json::object& options, const char* name) {
  const json::value* value = options.if_contains(name);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

arrow::Result<bool> flag(const json::object& options, const char* name, bool otherwise) {
  const json::value* value = option(options, name);
  if (value == nullptr) return otherwise;
  if (value->is_bool()) return value->get_bool();
  return arrow::Status::Invalid("the option ", name, " is true or false; found ", json_text(*value));
}

arrow::Result<std::shared_ptr<arrow::DataType>> type_option(const json::object& options) {
  const json::value* value = option(options, "type");
  if (value == nullptr) return nullptr;
  if (!value->is_string()) return arrow::Status::Invalid("the option type is text; found ", json_text(*value));
  return type_of_name(value->get_string());
}

Made make_cast(const json::object& options) {
  ARROW_ASSIGN_OR_RAISE(const auto type, type_option(options));
  if (type == nullptr) return arrow::Status::Invalid("cast needs the option type");
  ARROW_ASSIGN_OR_RAISE(const bool safe, flag(options, "safe", true));
  return [type, safe](const Arguments& args, const CallPlace& place) -> DatumResult {
    cp::ExecContext context(place.pool);
    return cp::Cast(args[0], safe ? cp::CastOptions::Safe(type) : cp::CastOptions::Unsafe(type), &context);
  };
}

Made make_lookup(const json::object& options, bool inside) {
  const json::value* values = option(options, "values");
  if (values == nullptr || !values->is_array())
    return arrow::Status::Invalid("is_in needs a list as its option values");
  ARROW_ASSIGN_OR_RAISE(const auto type, type_option(options));
  ARROW_ASSIGN_OR_RAISE(const bool skip_nulls, flag(options, "skip_nulls", false));
  ARROW_ASSIGN_OR_RAISE(const auto array, array_of(values->get_array(), type));
  return [array, skip_nulls, inside](const Arguments& args, const CallPlace& place) -> DatumResult {
    cp::ExecContext context(place.pool);
    const auto matching = skip_nulls ? cp::SetLookupOptions::SKIP : cp::SetLookupOptions::MATCH;
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum set, cp::Cast(array, args[0].type(), cp::CastOptions::Safe(), &context));
    ARROW_ASSIGN_OR_RAISE(arrow::Datum found, cp::IsIn(args[0], cp::SetLookupOptions(set, matching), &context));
    return inside ? DatumResult(found) : call_kernel("invert", {found}, place);
  };
}

Made make_list_sort(const json::object& options) {
  ARROW_ASSIGN_OR_RAISE(const bool descending, flag(options, "descending", false));
  ARROW_ASSIGN_OR_RAISE(const bool nulls_last, flag(options, "nulls_last", true));
  return [descending, nulls_last](const Arguments& args, const CallPlace& place) {
    return list_sort(args[0], descending, nulls_last, place.pool);
  };
}

/// A field by its number.
Made make_field(const json::object& options) {
  const json::value* value = option(options, "index");
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0) {
    return arrow::Status::Invalid("struct_field_by_index needs the option index, 0 or more");
  }
  return [index = value->get_int64()](const Arguments& args, const CallPlace& place) -> DatumResult {
    const auto type = args[0].type();
    if (type->id() != arrow::Type::STRUCT)
      return arrow::Status::TypeError("structs are needed, found ", type->ToString());
    if (index >= type->num_fields()) {
      return arrow::Status::Invalid("there is no field ", index, "; the struct has ", type->num_fields(), " fields");
    }
    const cp::StructFieldOptions field({static_cast<int>(index)});
    cp::ExecContext context(place.pool);
    return cp::CallFunction("struct_field", args, &field, &context);
  };
}

Made make_random(const json::object& options) {
  const json::value* value = option(options, "seed");
  std::optional<std::uint64_t> seed;
  if (value != nullptr) {
    if (!value->is_int64() && !value->is_uint64()) {
      return arrow::Status::Invalid("the option seed is an integer; found ", json_text(*value));
    }
    seed = value->is_int64() ? static_cast<std::uint64_t>(value->get_int64()) : value->get_uint64();
  }
  return [seed](const Arguments&, const CallPlace& place) { return random_values(seed, place); };
}

struct Known {
  std::size_t arguments;
  std::vector<std::string> options;
  std::function<Made(const json::object&)> make;
};

Known plain(std::size_t arguments, OwnFunction function) {
  return {arguments, {}, [function = std::move(function)](const json::object&) -> Made { return function; }};
}

const std::map<std::string, Known, std::less<>>& known_functions() {
  static const std::map<std::string, Known, std::less<>> table = {
      {"add", plain(2, add)},
      {"true_divide", plain(2, true_divide)},
      {"floor_divide", plain(2, floor_divide)},
      {"modulo", plain(2, modulo)},
      {"cast", {1, {"type", "safe"}, make_cast}},
      {"is_in", {1, {"values", "type", "skip_nulls"}, [](const auto& o) { return make_lookup(o, true); }}},
      {"not_in", {1, {"values", "type", "skip_nulls"}, [](const auto& o) { return make_lookup(o, false); }}},
      {"list_sort", {1, {"descending", "nulls_last"}, make_list_sort}},
      {"list_join", plain(1, [](const Arguments& args, const CallPlace&) { return list_join(args[0]); })},
      {"to_list", plain(1, [](const Arguments& args, const CallPlace&) { return as_list(args[0]); })},
      {"struct_field_by_index", {1, {"index"}, make_field}},
      {"map_keys", plain(1, [](const Arguments& args, const CallPlace&) { return map_part(args[0], 0); })},
      {"map_values", plain(1, [](const Arguments& args, const CallPlace&) { return map_part(args[0], 1); })},
      {"random", {0, {"seed"}, make_random}},
      {"uuid", plain(0, [](const Arguments&, const CallPlace& place) { return uuid_values(place); })},
      {"monotonically_increasing_id",
       plain(0, [](const Arguments&, const CallPlace& place) { return increasing_ids(place); })},
  };
  return table;
}

}  // namespace

arrow::Result<std::optional<OwnFunction>> own_function(const std::string& name, std::size_t arguments,
                                                       const json::object& options) {
  const auto found = known_functions().find(name);
  if (found == known_functions().end()) return std::nullopt;
  const Known& known = found->second;
  if (arguments != known.arguments) {
    return arrow::Status::Invalid("the function ", name, " takes ", known.arguments, " arguments; found ", arguments);
  }
  for (const auto& [given, value] : options) {
    if (std::find(known.options.begin(), known.options.end(), given) == known.options.end()) {
      return arrow::Status::Invalid("the function ", name, " has no option ", std::string(given));
    }
  }
  ARROW_ASSIGN_OR_RAISE(OwnFunction made, known.make(options));
  return made;
}

}  // namespace headway::flow
