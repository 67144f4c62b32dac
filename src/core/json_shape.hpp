#pragma once

#include "core/json.hpp"

#include <boost/mp11.hpp>

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// Where JSON is not what a described struct is made of, in words for people: what `from_json` refuses, it refuses with a code.
/// A header apart, since messages between our own processes need no such words.
namespace headway {

struct Misfit {
  std::string expected;  ///< `a list as "files"`, `an object`.
  std::string found;     ///< `3`, `a list`, `none`.
};

/// "a list", "an object", else the value itself, cut where it is long.
std::string shown_value(const Json& value);

namespace shape {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = std::is_same_v<T, JsonArray>;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;

template <class T>
inline constexpr bool is_struct = [] {
  if constexpr (std::is_class_v<T>) return boost::describe::has_describe_members<T>::value;
  return false;
}();

/// What a member of this type is called.
template <class T>
std::string name_of_type() {
  if constexpr (is_optional<T>) return name_of_type<typename T::value_type>();
  if constexpr (is_list<T>) return "a list";
  if constexpr (is_map<T> || is_struct<T> || std::is_same_v<T, JsonObject>) return "an object";
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_unsigned_v<T>) return "a whole number that is not negative";
  if constexpr (std::is_integral_v<T>) return "a whole number";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  if constexpr (std::is_same_v<T, std::string>) return "text";
  return "one of the values that there are";
}

inline std::string placed(const std::string& type, const std::string& place) {
  return place.empty() ? type : type + " as \"" + place + "\"";
}

inline std::string below(const std::string& place, std::string_view key) {
  return (place.empty() ? "" : place + ".") + std::string(key);
}

template <class T>
std::optional<Misfit> misfit(const Json& json, const std::string& place);

template <class T>
std::optional<Misfit> misfit_of_members(const JsonObject& object, const std::string& place) {
  std::optional<Misfit> first;
  using Members = boost::describe::describe_members<T, boost::describe::mod_any_access>;
  boost::mp11::mp_for_each<Members>([&](auto member) {
    using Type = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
    if (first) return;
    const std::string there = below(place, member.name);
    if (const Json* found = object.if_contains(member.name)) {
      first = misfit<Type>(*found, there);
    } else if (!is_optional<Type>) {
      first = Misfit{placed(name_of_type<Type>(), there), "none"};
    }
  });
  return first;
}

template <class T>
std::optional<Misfit> misfit(const Json& json, const std::string& place) {
  const auto other = [&] { return Misfit{placed(name_of_type<T>(), place), shown_value(json)}; };
  if constexpr (std::is_same_v<T, Json>) {
    return {};
  } else if constexpr (is_optional<T>) {
    return json.is_null() ? std::optional<Misfit>() : misfit<typename T::value_type>(json, place);
  } else if constexpr (is_list<T>) {
    if (!json.is_array()) return other();
    for (std::size_t i = 0; i < json.get_array().size(); ++i) {
      auto wrong = misfit<typename T::value_type>(json.get_array()[i], place + "[" + std::to_string(i) + "]");
      if (wrong) return wrong;
    }
    return {};
  } else if constexpr (is_map<T> || is_struct<T>) {
    if (!json.is_object()) return other();
    if constexpr (is_struct<T>) return misfit_of_members<T>(json.get_object(), place);
    if constexpr (is_map<T>) {
      for (const auto& [key, value] : json.get_object()) {
        if (auto wrong = misfit<typename T::mapped_type>(value, below(place, key))) return wrong;
      }
    }
    return {};
  } else {
    return boost::json::try_value_to<T>(json).has_value() ? std::optional<Misfit>() : other();
  }
}

}  // namespace shape

/// The first place where `json` is no T; none where it is one.
template <class T>
std::optional<Misfit> misfit(const Json& json) {
  return shape::misfit<T>(json, "");
}

/// As `from_json`, with the error "<subject> is damaged: expected <…>, found <…>".
template <class T>
Result<T> from_file_json(const Json& json, std::string_view subject) {
  Result<T> converted = from_json<T>(json, subject);
  if (converted) return converted;
  const std::optional<Misfit> wrong = misfit<T>(json);
  if (!wrong) return converted;
  return Error{ErrorKind::corrupted,
               std::string(subject) + " is damaged: expected " + wrong->expected + ", found " + wrong->found};
}

}  // namespace headway
