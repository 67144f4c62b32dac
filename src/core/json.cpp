#include "core/json.hpp"

#include "core/text.hpp"

#include <boost/json/src.hpp>

#include <array>
#include <charconv>

namespace headway {

Result<Json> parse_json(std::string_view text, std::string_view subject) {
  boost::json::parse_options options;
  options.allow_infinity_and_nan = true;
  // The default mode may be off by a bit in the last place: a metric would not come back as it was.
  options.numbers = boost::json::number_precision::precise;
  options.max_depth = 128;
  boost::system::error_code failure;
  boost::json::stream_parser parser({}, options);
  const std::size_t read = parser.write_some(text.data(), text.size(), failure);
  if (!failure && read < text.size()) failure = boost::json::error::extra_data;
  if (!failure) parser.finish(failure);
  if (failure) {
    return Error{ErrorKind::corrupted, std::string(subject) + " is not JSON: " + failure.message() + " near byte " +
                                           std::to_string(read) + " of " + std::to_string(text.size())};
  }
  return parser.release();
}

std::string json_text(const Json& value) {
  boost::json::serialize_options options;
  options.allow_infinity_and_nan = true;
  return boost::json::serialize(value, options);
}

Error misfit_error(const Misfit& wrong, std::string_view subject) {
  return {ErrorKind::corrupted, std::string(subject) + ": expected " + wrong.expected + ", found " + wrong.found};
}

void fill_missing(JsonObject& object, const JsonObject& defaults) {
  for (const auto& [key, value] : defaults) {
    Json* given = object.if_contains(key);
    if (given == nullptr) {
      object[key] = value;
    } else if (given->is_object() && value.is_object()) {
      fill_missing(given->get_object(), value.get_object());
    }
  }
}

std::string shown_value(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  if (value.is_double()) {  // JSON's text has an exponent in any case.
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value.get_double()).ptr};
  }
  constexpr std::size_t bytes_max = 60;
  const std::string text = json_text(value);
  return text.size() <= bytes_max ? text : to_utf8(text.substr(0, bytes_max)) + "...";
}

const Json* find_path(const JsonObject& object, std::string_view path) {
  if (const Json* exact = object.if_contains(path)) return exact;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const Json* child = object.if_contains(path.substr(0, slash));
    if (child == nullptr || !child->is_object()) continue;
    if (const Json* found = find_path(child->get_object(), path.substr(slash + 1))) return found;
  }
  return nullptr;
}

}  // namespace headway
