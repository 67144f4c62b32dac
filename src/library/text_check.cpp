#include "library/text_check.hpp"

#include "core/text.hpp"

namespace headway::library {
namespace {

Error no_utf8(const std::string& place, const std::string& text) {
  return {ErrorKind::invalid_argument, place + " is text that is not UTF-8 (\"" + to_utf8(text) +
                                           "\"); allowed: UTF-8 (bytes go into a checkpoint's files)"};
}

}  // namespace

Result<void> check_text(const std::string& argument, const Json& value) {
  if (value.is_string() && !is_utf8(value.as_string())) return no_utf8(argument, value.as_string());
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto ok = check_text(argument + "[" + std::to_string(i) + "]", value.at(i)); !ok) return ok;
    }
  }
  if (!value.is_object()) return {};
  for (const auto& [key, each] : value.as_object()) {
    if (!is_utf8(key)) return no_utf8("a key of " + argument, key);
    if (auto ok = check_text(argument + "[\"" + key + "\"]", each); !ok) return ok;
  }
  return {};
}

}  // namespace headway::library
