#pragma once

#include "core/json_codec.hpp"
#include "core/json_text.hpp"

#include <headway/result.hpp>

#include <boost/describe.hpp>
#include <boost/json.hpp>

#include <string>
#include <string_view>

/// JSON as every journal line and message is written: Boost.JSON, with NaN and infinities allowed
/// (metrics have them). Described structs (BOOST_DESCRIBE_STRUCT) convert both ways; optional
/// members may be missing, and what else an object has is ignored.
namespace headway {

/// A value as JSON: a described struct, or a list, map or optional of such.
template <class T>
Json to_json(const T& value) {
  Json json;
  codec::of<T>.write(&value, json);
  return json;
}

template <class T>
std::string to_json_text(const T& value) {
  return json_text(to_json(value));
}

/// The error of `from_json`: "<subject>: expected <…>, found <…>".
Error misfit_error(const Misfit& wrong, std::string_view subject);

/// JSON to such a value. Errors: `corrupted`, naming `subject` and the first member that does not
/// fit.
template <class T>
Result<T> from_json(const Json& json, std::string_view subject) {
  T value{};
  if (const auto wrong = codec::read(codec::of<T>, json, &value)) return misfit_error(*wrong, subject);
  return value;
}

/// Gives `object` the members of `defaults` that it lacks, in objects below it too.
void fill_missing(JsonObject& object, const JsonObject& defaults);

template <class T>
Result<T> from_json_text(std::string_view text, std::string_view subject) {
  Result<Json> parsed = parse_json(text, subject);
  if (!parsed) return parsed.error();
  return from_json<T>(*parsed, subject);
}

/// The number at a path such as `eval/loss` (an exact key wins over a nested one); nullptr when
/// there is none.
const Json* find_path(const JsonObject& object, std::string_view path);

}  // namespace headway
