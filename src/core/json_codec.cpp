#include "core/json_codec.hpp"

#include <algorithm>

namespace headway::codec {
namespace {

/// In front of what is within: "spec" and "files[2]" make "spec.files[2]".
void enter(std::string key, Wrong& wrong) {
  if (!wrong.place.empty() && wrong.place.front() != '[') key += '.';
  wrong.place.insert(0, key);
}

}  // namespace

bool refuse(const Codec& codec, const Json& found, Wrong& wrong) {
  wrong = {codec.name, "", shown_value(found)};
  return false;
}

bool refuse_element(std::size_t index, Wrong& wrong) {
  enter("[" + std::to_string(index) + "]", wrong);
  return false;
}

bool refuse_member(std::string_view name, Wrong& wrong) {
  enter(std::string(name), wrong);
  return false;
}

void write_members(std::span<const Member> members, const void* from, Json& to) {
  JsonObject& object = to.emplace_object();
  object.reserve(members.size());
  // A member's address is asked of an object that is not const; nothing is written to it.
  void* source = const_cast<void*>(from);
  for (const Member& member : members) member.codec->write(member.in(source), object[member.name]);
}

bool read_members(std::span<const Member> members, const Json& from, void* to, Wrong& wrong) {
  const JsonObject* object = from.if_object();
  if (object == nullptr) {
    wrong = {"an object", "", shown_value(from)};
    return false;
  }
  for (const Member& member : members) {
    if (const Json* found = object->if_contains(member.name)) {
      if (!member.codec->read(*found, member.in(to), wrong)) return refuse_member(member.name, wrong);
    } else if (!member.optional) {
      wrong = {member.codec->name, member.name, "none"};
      return false;
    }
  }
  return true;
}

void write_enumerator(std::span<const Enumerator> enumerators, int from, Json& to) {
  const auto known = std::ranges::find(enumerators, from, &Enumerator::value);
  if (known == enumerators.end()) {
    to = from;
  } else {
    to = known->name;
  }
}

bool read_enumerator(std::span<const Enumerator> enumerators, const Json& from, int& to, const Codec& codec,
                     Wrong& wrong) {
  const auto known =
      !from.is_string() ? enumerators.end() : std::ranges::find_if(enumerators, [&](const Enumerator& each) {
        return std::string_view(from.get_string()) == each.name;
      });
  if (known == enumerators.end()) return refuse(codec, from, wrong);
  to = known->value;
  return true;
}

std::optional<Misfit> read(const Codec& codec, const Json& from, void* to) {
  Wrong wrong;
  if (codec.read(from, to, wrong)) return {};
  if (!wrong.place.empty()) wrong.type += " as \"" + wrong.place + "\"";
  return Misfit{std::move(wrong.type), std::move(wrong.found)};
}

template <class T>
void write_leaf(const T& from, Json& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    to.emplace_string().assign(from);
  } else {
    to = from;
  }
}

template <class T>
bool read_leaf(const Json& from, T& to) {
  if constexpr (std::is_same_v<T, Json>) {
    to = from;
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (from.is_bool()) to = from.get_bool();
    return from.is_bool();
  } else if constexpr (std::is_arithmetic_v<T>) {
    boost::system::error_code failure;
    to = from.to_number<T>(failure);
    return !failure;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (from.is_string()) to = std::string_view(from.get_string());
    return from.is_string();
  } else if constexpr (std::is_same_v<T, JsonObject>) {
    if (from.is_object()) to = from.get_object();
    return from.is_object();
  } else {
    if (from.is_array()) to = from.get_array();
    return from.is_array();
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type.
#define HEADWAY_LEAF(T)                      \
  template void write_leaf(const T&, Json&); \
  template bool read_leaf(const Json&, T&)
// NOLINTEND(bugprone-macro-parentheses)
HEADWAY_LEAF(bool);
HEADWAY_LEAF(int);
HEADWAY_LEAF(unsigned);
HEADWAY_LEAF(std::int64_t);
HEADWAY_LEAF(std::uint64_t);
HEADWAY_LEAF(double);
HEADWAY_LEAF(std::string);
HEADWAY_LEAF(Json);
HEADWAY_LEAF(JsonObject);
HEADWAY_LEAF(JsonArray);
#undef HEADWAY_LEAF

}  // namespace headway::codec
