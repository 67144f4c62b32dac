#include "dashboard/masking.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace headway::dashboard {
namespace {

constexpr const char* masked = "***";
constexpr std::array<std::string_view, 13> secret_ends{
    "token",      "secret",     "password",    "passwd",        "apikey",     "accesskey",       "secretkey",
    "privatekey", "credential", "credentials", "authorization", "passphrase", "connectionstring"};

bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' || letter == '.';
}

bool ends_value(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0 || letter == '"' || letter == '\'' || letter == ',' ||
         letter == ';' || letter == '}' || letter == ')' || letter == ']';
}

bool looks_like_number(std::string_view text) {
  return std::ranges::all_of(
      text, [](char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0 || letter == '.'; });
}

/// Where a value begins behind a name that ends at `place`, in `name=value` and `"name": "value"`;
/// the same place when there is none.
std::size_t value_after(std::string_view text, std::size_t place) {
  std::size_t next = place;
  if (next < text.size() && (text[next] == '"' || text[next] == '\'')) ++next;
  while (next < text.size() && text[next] == ' ') ++next;
  if (next >= text.size() || (text[next] != '=' && text[next] != ':')) return place;
  ++next;
  while (next < text.size() && text[next] == ' ') ++next;
  if (next < text.size() && (text[next] == '"' || text[next] == '\'')) ++next;
  for (const std::string_view scheme : {"Bearer ", "Basic "}) {
    if (text.substr(next).starts_with(scheme)) next += scheme.size();
  }
  return next;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  std::string plain;
  for (const char letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  return std::ranges::any_of(secret_ends, [&](std::string_view end) { return plain.ends_with(end); });
}

void mask_secrets(Json& json) {
  if (JsonObject* object = json.if_object()) {
    for (auto& [name, value] : *object) {
      if (value.is_string() && is_secret_name(name)) {
        value = masked;
      } else {
        mask_secrets(value);
      }
    }
  } else if (JsonArray* array = json.if_array()) {
    for (Json& value : *array) mask_secrets(value);
  }
}

std::string mask_secrets(std::string text) {
  std::string shown;
  for (std::size_t place = 0; place < text.size();) {
    if (!is_name_letter(text[place])) {
      shown += text[place++];
      continue;
    }
    std::size_t end = place;
    while (end < text.size() && is_name_letter(text[end])) ++end;
    const std::string_view name = std::string_view(text).substr(place, end - place);
    const std::size_t value = is_secret_name(name) ? value_after(text, end) : end;
    std::size_t value_end = value;
    // What stands in quotes ends with them.
    const char quote = value != end && (text[value - 1] == '"' || text[value - 1] == '\'') ? text[value - 1] : '\0';
    const auto ends = [&](char letter) {
      return quote != '\0' ? letter == quote || letter == '\n' : ends_value(letter);
    };
    while (value != end && value_end < text.size() && !ends(text[value_end])) ++value_end;
    const std::string_view found = std::string_view(text).substr(value, value_end - value);
    shown += text.substr(place, value - place);
    if (!found.empty()) shown += looks_like_number(found) ? std::string(found) : masked;
    place = value_end;
  }
  return shown;
}

}  // namespace headway::dashboard
