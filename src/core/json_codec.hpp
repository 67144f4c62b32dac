#pragma once

#include <boost/describe.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// How described structs go to JSON and come from it: a table per type, and loops over these tables
/// that are compiled once, in json_codec.cpp. Boost.JSON's own conversions are instantiated per
/// member and per unit; those of all messages took a third of the build. Users include
/// core/json.hpp.
namespace headway {

using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

/// What is wrong with a JSON value, in words for people.
struct Misfit {
  std::string expected;  ///< `a list as "files"`, `an object`.
  std::string found;     ///< `3`, `a list`, `none`.
};

/// "a list", "an object", else the value itself, cut where it is long.
std::string shown_value(const Json& value);

namespace codec {

/// The first thing in a value that does not fit. `place` grows from the inside, as readers return.
struct Wrong {
  std::string type;
  std::string place;  ///< "spec.files[2]"
  std::string found;
};

/// One type. The pointers are to a value of it.
struct Codec {
  const char* name;  ///< "a list"
  void (*write)(const void* from, Json& to);
  /// Into a value that was just made. False, with `wrong`, when `from` does not fit.
  bool (*read)(const Json& from, void* to, Wrong& wrong);
};

struct Member {
  const char* name;
  const Codec* codec;
  void* (*in)(void* object);  ///< The member of that object.
  bool optional;              ///< It may be missing.
};

struct Enumerator {
  const char* name;
  int value;
};

template <class T>
struct Type;

template <class T>
inline constexpr Codec of = {Type<T>::name, &Type<T>::write, &Type<T>::read};

void write_members(std::span<const Member> members, const void* from, Json& to);
bool read_members(std::span<const Member> members, const Json& from, void* to, Wrong& wrong);
void write_enumerator(std::span<const Enumerator> enumerators, int from, Json& to);
bool read_enumerator(std::span<const Enumerator> enumerators, const Json& from, int& to, const Codec& codec,
                     Wrong& wrong);
bool refuse(const Codec& codec, const Json& found, Wrong& wrong);  ///< False.
bool refuse_element(std::size_t index, Wrong& wrong);              ///< False.
bool refuse_member(std::string_view name, Wrong& wrong);           ///< False.

/// `from` as the value at `to`, which was just made; what is wrong when it does not fit.
std::optional<Misfit> read(const Codec& codec, const Json& from, void* to);

template <auto Pointer, class T>
void* member_in(void* object) {
  return &(static_cast<T*>(object)->*Pointer);
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T, template <class...> class List, class... D>
constexpr std::array<Member, sizeof...(D)> members_in(List<D...>*) {
  return {Member{D::name, &of<std::remove_cvref_t<decltype(std::declval<T&>().*D::pointer)>>, &member_in<D::pointer, T>,
                 is_optional<std::remove_cvref_t<decltype(std::declval<T&>().*D::pointer)>>}...};
}

template <class E, template <class...> class List, class... D>
constexpr std::array<Enumerator, sizeof...(D)> enumerators_in(List<D...>*) {
  return {Enumerator{D::name, static_cast<int>(D::value)}...};
}

/// A described struct or enumeration. What else there is stands below, and in json_codec.cpp.
template <class T>
struct Type {
  static_assert(boost::describe::has_describe_members<T>::value, "describe it: BOOST_DESCRIBE_STRUCT");
  using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
  static constexpr const char* name = "an object";
  static constexpr auto members = members_in<T>(static_cast<Members*>(nullptr));
  static void write(const void* from, Json& to) { write_members(members, from, to); }
  static bool read(const Json& from, void* to, Wrong& wrong) { return read_members(members, from, to, wrong); }
};

template <class T>
  requires std::is_enum_v<T>
struct Type<T> {
  using Enumerators = boost::describe::describe_enumerators<T>;
  static constexpr const char* name = "one of the values that there are";
  static constexpr auto enumerators = enumerators_in<T>(static_cast<Enumerators*>(nullptr));
  static void write(const void* from, Json& to) {
    write_enumerator(enumerators, static_cast<int>(*static_cast<const T*>(from)), to);
  }
  static bool read(const Json& from, void* to, Wrong& wrong) {
    int value = 0;
    if (!read_enumerator(enumerators, from, value, of<T>, wrong)) return false;
    *static_cast<T*>(to) = static_cast<T>(value);
    return true;
  }
};

template <class T>
struct Type<std::optional<T>> {
  static constexpr const char* name = Type<T>::name;
  static void write(const void* from, Json& to) {
    const auto& value = *static_cast<const std::optional<T>*>(from);
    if (value) of<T>.write(&*value, to);
  }
  static bool read(const Json& from, void* to, Wrong& wrong) {
    auto& value = *static_cast<std::optional<T>*>(to);
    value.reset();
    return from.is_null() || of<T>.read(from, &value.emplace(), wrong);
  }
};

template <class T>
struct Type<std::vector<T>> {
  static constexpr const char* name = "a list";
  static void write(const void* from, Json& to) {
    const auto& values = *static_cast<const std::vector<T>*>(from);
    JsonArray& array = to.emplace_array();
    array.reserve(values.size());
    for (const T& value : values) of<T>.write(&value, array.emplace_back(nullptr));
  }
  static bool read(const Json& from, void* to, Wrong& wrong) {
    const JsonArray* array = from.if_array();
    if (array == nullptr) return refuse(of<std::vector<T>>, from, wrong);
    auto& values = *static_cast<std::vector<T>*>(to);
    values.clear();
    values.reserve(array->size());
    for (const Json& each : *array) {
      if (!of<T>.read(each, &values.emplace_back(), wrong)) return refuse_element(values.size() - 1, wrong);
    }
    return true;
  }
};

/// A value that several share; where there is none, an empty one is written.
template <class T>
struct Type<std::shared_ptr<const T>> {
  static constexpr const char* name = Type<T>::name;
  static void write(const void* from, Json& to) {
    const auto& value = *static_cast<const std::shared_ptr<const T>*>(from);
    const T none{};
    of<T>.write(value ? value.get() : &none, to);
  }
  static bool read(const Json& from, void* to, Wrong& wrong) {
    const auto value = std::make_shared<T>();
    *static_cast<std::shared_ptr<const T>*>(to) = value;
    return of<T>.read(from, value.get(), wrong);
  }
};

template <class T>
struct Type<std::map<std::string, T>> {
  static constexpr const char* name = "an object";
  static void write(const void* from, Json& to) {
    JsonObject& object = to.emplace_object();
    for (const auto& [key, value] : *static_cast<const std::map<std::string, T>*>(from)) {
      of<T>.write(&value, object[key]);
    }
  }
  static bool read(const Json& from, void* to, Wrong& wrong) {
    const JsonObject* object = from.if_object();
    if (object == nullptr) return refuse(of<std::map<std::string, T>>, from, wrong);
    auto& values = *static_cast<std::map<std::string, T>*>(to);
    values.clear();
    for (const auto& [key, value] : *object) {
      if (!of<T>.read(value, &values[std::string(key)], wrong)) return refuse_member(key, wrong);
    }
    return true;
  }
};

template <class T>
inline constexpr const char* leaf_name = nullptr;
template <>
inline constexpr const char* leaf_name<bool> = "true or false";
template <class T>
  requires std::is_integral_v<T>
inline constexpr const char* leaf_name<T> =
    std::is_unsigned_v<T> ? "a whole number that is not negative" : "a whole number";
template <>
inline constexpr const char* leaf_name<double> = "a number";
template <>
inline constexpr const char* leaf_name<std::string> = "text";
template <>
inline constexpr const char* leaf_name<Json> = "a value";
template <>
inline constexpr const char* leaf_name<JsonObject> = "an object";
template <>
inline constexpr const char* leaf_name<JsonArray> = "a list";

template <class T>
void write_leaf(const T& from, Json& to);
template <class T>
bool read_leaf(const Json& from, T& to);

/// json_codec.cpp instantiates these.
template <class T>
  requires(leaf_name<T> != nullptr)
struct Type<T> {
  static constexpr const char* name = leaf_name<T>;
  static void write(const void* from, Json& to) { write_leaf(*static_cast<const T*>(from), to); }
  static bool read(const Json& from, void* to, Wrong& wrong) {
    return read_leaf(from, *static_cast<T*>(to)) || refuse(of<T>, from, wrong);
  }
};

}  // namespace codec
}  // namespace headway
