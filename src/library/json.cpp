#include <headway/json.hpp>

#include "core/json_text.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headway {
namespace {

using boost::json::value;

Json from_boost(const value& from) {
  switch (from.kind()) {
    case boost::json::kind::null: return {};
    case boost::json::kind::bool_: return Json(from.get_bool());
    case boost::json::kind::int64: return Json(from.get_int64());
    case boost::json::kind::uint64: return Json(from.get_uint64());
    case boost::json::kind::double_: return Json(from.get_double());
    case boost::json::kind::string: return Json(std::string(from.get_string()));
    case boost::json::kind::array: {
      Json::Array elements;
      for (const value& element : from.get_array()) elements.push_back(from_boost(element));
      return Json(std::move(elements));
    }
    case boost::json::kind::object: break;
  }
  Json object = Json::object();
  for (const auto& [key, element] : from.get_object()) object[key] = from_boost(element);
  return object;
}

/// As one writes it: 0.5, 1e-07. Whole ones keep a ".0", so that they are read as doubles again.
void write_double(double number, std::string& text) {
  if (!std::isfinite(number)) {
    text += std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
    return;
  }
  std::array<char, 32> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const std::string_view written(digits.data(), static_cast<std::size_t>(end - digits.data()));
  text += written;
  if (written.find_first_of(".e") == std::string_view::npos) text += ".0";
}

void write_string(const std::string& from, std::string& text) {
  text += boost::json::serialize(boost::json::string_view(from));
}

void write(const Json& from, std::string& text) {
  if (from.is_null()) {
    text += "null";
  } else if (from.is_bool()) {
    text += from.as_bool() ? "true" : "false";
  } else if (from.is_integer()) {
    text += std::to_string(from.as_int());
  } else if (from.is_number()) {
    write_double(from.as_double(), text);
  } else if (from.is_string()) {
    write_string(from.as_string(), text);
  } else if (from.is_array()) {
    text += '[';
    for (const Json& element : from.as_array()) {
      if (&element != &from.as_array().front()) text += ',';
      write(element, text);
    }
    text += ']';
  } else {
    text += '{';
    for (const auto& member : from.as_object()) {
      if (&member != &from.as_object().front()) text += ',';
      write_string(member.first, text);
      text += ':';
      write(member.second, text);
    }
    text += '}';
  }
}

/// Whether a list in braces is an object's: every element is a pair that begins with a string.
bool is_object_list(std::initializer_list<Json> list) {
  return list.size() > 0 && std::all_of(list.begin(), list.end(), [](const Json& each) {
           return each.is_array() && each.size() == 2 && each.at(std::size_t{0}).is_string();
         });
}

[[noreturn]] void fail(const std::string& message) { throw BadResult({ErrorKind::invalid_argument, message}); }

std::string keys_of(const Json::Object& object) {
  std::string text;
  for (const auto& [key, element] : object) text += (text.empty() ? "" : ", ") + key;
  return text.empty() ? "none" : text;
}

}  // namespace

Json::Json(std::initializer_list<Json> list) {
  if (!is_object_list(list)) {
    value_ = Array(list);
    return;
  }
  value_ = Object();
  for (const Json& pair : list) (*this)[pair.at(std::size_t{0}).as_string()] = pair.at(std::size_t{1});
}

Json Json::object(std::initializer_list<std::pair<std::string, Json>> list) {
  Json made;
  made.value_ = Object();
  for (const auto& [key, element] : list) made[key] = element;
  return made;
}

Result<Json> Json::parse(std::string_view text) {
  Result<value> parsed = parse_json(text, "the text");
  if (!parsed) return parsed.error();
  return from_boost(*parsed);
}

std::string Json::dump() const {
  std::string text;
  write(*this, text);
  return text;
}

void Json::refuse(const char* wanted) const {
  constexpr std::size_t shown_max = 60;
  std::string shown = dump();
  if (shown.size() > shown_max) shown = shown.substr(0, shown_max) + "...";
  fail("a JSON value is " + shown + "; wanted: " + wanted);
}

bool Json::as_bool() const {
  if (!is_bool()) refuse("true or false");
  return std::get<bool>(value_);
}

std::int64_t Json::as_int() const {
  if (is_integer()) return std::get<std::int64_t>(value_);
  constexpr double beyond = 9223372036854775808.0;
  const double* number = std::get_if<double>(&value_);
  if (number == nullptr || *number != std::floor(*number) || *number < -beyond || *number >= beyond) {
    refuse("an integer of 64 bits");
  }
  return static_cast<std::int64_t>(*number);
}

double Json::as_double() const {
  if (is_integer()) return static_cast<double>(std::get<std::int64_t>(value_));
  if (!is_number()) refuse("a number");
  return std::get<double>(value_);
}

const std::string& Json::as_string() const {
  if (!is_string()) refuse("a string");
  return std::get<std::string>(value_);
}

const Json::Array& Json::as_array() const {
  if (!is_array()) refuse("an array");
  return std::get<Array>(value_);
}

const Json::Object& Json::as_object() const {
  if (!is_object()) refuse("an object");
  return std::get<Object>(value_);
}

std::size_t Json::size() const {
  if (is_array()) return as_array().size();
  return is_object() ? as_object().size() : 0;
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const Object& object = as_object();
  const auto found = std::find_if(object.begin(), object.end(), [&](const auto& pair) { return pair.first == key; });
  return found == object.end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view key) const {
  const Object& object = as_object();
  const Json* found = find(key);
  if (found == nullptr) fail("a JSON object has no \"" + std::string(key) + "\"; its keys: " + keys_of(object));
  return *found;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  if (!is_object()) refuse("an object");
  return std::get<Object>(value_).emplace_back(std::string(key), Json()).second;
}

const Json& Json::at(std::size_t index) const {
  const Array& elements = as_array();
  if (index >= elements.size()) {
    fail("index is " + std::to_string(index) + " in a JSON array of " + std::to_string(elements.size()) + " elements");
  }
  return elements[index];
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Array();
  if (!is_array()) refuse("an array");
  std::get<Array>(value_).push_back(std::move(element));
}

}  // namespace headway
