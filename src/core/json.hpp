#pragma once

#include "core/json_text.hpp"

#include <headway/result.hpp>

#include <boost/describe.hpp>
#include <boost/json.hpp>

#include <string>
#include <string_view>

/// JSON as every journal line and message is written: Boost.JSON, with NaN and infinities allowed (metrics have them).
/// Described structs (BOOST_DESCRIBE_STRUCT) convert both ways; optional members may be missing.
namespace headway {

using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

/// A described struct as JSON text.
template <class T>
std::string to_json_text(const T& value) {
  return json_text(boost::json::value_from(value));
}

/// JSON to a described struct. Errors: `corrupted`, naming `subject` and what does not fit.
template <class T>
Result<T> from_json(const Json& json, std::string_view subject) {
  auto converted = boost::json::try_value_to<T>(json);
  if (converted.has_value()) return std::move(*converted);
  return Error{ErrorKind::corrupted, std::string(subject) + ": " + converted.error().message()};
}

/// Gives `object` the members of `defaults` that it lacks, in objects below it too.
void fill_missing(JsonObject& object, const JsonObject& defaults);

template <class T>
Result<T> from_json_text(std::string_view text, std::string_view subject) {
  Result<Json> parsed = parse_json(text, subject);
  if (!parsed) return parsed.error();
  return from_json<T>(*parsed, subject);
}

/// The number at a path such as `eval/loss` (an exact key wins over a nested one); nullptr when there is none.
const Json* find_path(const JsonObject& object, std::string_view path);

}  // namespace headway
