#pragma once

#include <headway/export.hpp>
#include <headway/result.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headway {

/// A JSON value: configurations, metrics, return values. A value type: copies are deep, equality
/// compares contents.
///
/// Braces make objects and arrays: a list in which every element is a pair that begins with a
/// string is an object, any other list an array (`Json::array` and `Json::object` say it outright).
/// Objects keep the order in which keys were added.
///
///     headway::Json config = {{"lr", 1e-3}, {"layers", {64, 32}}, {"name", "small"}};
///     double rate = config.at("lr").as_double();
///     int epochs = config.value_or("epochs", 10);
///
/// Numbers are integers of 64 bits or doubles (NaN and infinities too); an unsigned one beyond them
/// becomes a double. Text is UTF-8.
class HEADWAY_API Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;  ///< null
  Json(std::nullptr_t) {}
  template <std::same_as<bool> T>
  Json(T value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) : value_(from_integer(value)) {}
  template <std::floating_point T>
  Json(T value) : value_(static_cast<double>(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(std::initializer_list<Json> list);

  static Json array(std::initializer_list<Json> list = {}) { return Json(Array(list)); }
  /// Pairs of a key and a value; of equal keys the last one counts.
  static Json object(std::initializer_list<std::pair<std::string, Json>> list = {});

  /// Text to value; `NaN`, `Infinity` and `-Infinity` are numbers. Errors: `corrupted`, with the
  /// offset.
  static Result<Json> parse(std::string_view text);
  /// One line of JSON text.
  std::string dump() const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  /// The value as what it is. Throws `BadResult` (`invalid_argument`) when it is something else;
  /// `as_double` takes integers too, `as_int` doubles that are whole.
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;

  /// Elements of an array or an object; 0 for anything else.
  std::size_t size() const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// The value of a key; nullptr when there is none, or this is no object.
  const Json* find(std::string_view key) const;
  /// The value of a key. Throws `BadResult` (`invalid_argument`), naming the keys that there are.
  const Json& at(std::string_view key) const;
  const Json& operator[](std::string_view key) const { return at(key); }
  /// The value of a key, added as null when it is missing; null becomes an object. Throws as
  /// `as_object` for anything else.
  Json& operator[](std::string_view key);
  /// An element of an array. Throws `BadResult` (`invalid_argument`) beyond its end.
  const Json& at(std::size_t index) const;
  /// Adds to an array; null becomes one. Throws as `as_array` for anything else.
  void push_back(Json value);

  /// The value of a key in the type of `fallback`, or `fallback` when the key is missing. Throws as
  /// `as_...` for another type.
  bool value_or(std::string_view key, bool fallback) const { return contains(key) ? at(key).as_bool() : fallback; }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  T value_or(std::string_view key, T fallback) const {
    return contains(key) ? static_cast<T>(at(key).as_int()) : fallback;
  }
  template <std::floating_point T>
  T value_or(std::string_view key, T fallback) const {
    return contains(key) ? static_cast<T>(at(key).as_double()) : fallback;
  }
  std::string value_or(std::string_view key, const char* fallback) const {
    return contains(key) ? at(key).as_string() : std::string(fallback);
  }
  std::string value_or(std::string_view key, std::string_view fallback) const {
    return contains(key) ? at(key).as_string() : std::string(fallback);
  }

  bool operator==(const Json& other) const { return value_ == other.value_; }

 private:
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object>;

  template <std::integral T>
  static Value from_integer(T value) {
    if (!std::in_range<std::int64_t>(value)) return static_cast<double>(value);
    return static_cast<std::int64_t>(value);
  }
  [[noreturn]] void refuse(const char* wanted) const;

  Value value_;
};

}  // namespace headway
