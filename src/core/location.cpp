#include "core/location.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace headway {

namespace {

constexpr std::string_view separator = "://";

std::string escaped(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "-._~/:@!$&'()*+,;=";
  std::string text;
  for (const char character : name) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0 || plain.find(character) != std::string_view::npos) {
      text += character;
    } else {
      text.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
  }
  return text;
}

int digit_of(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Result<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? digit_of(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? digit_of(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      return Error{ErrorKind::invalid_argument,
                   "file://" + std::string(text) + " has a '%' without two hexadecimal digits"};
    }
    plain += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return plain;
}

std::string joined(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(name);
}

/// "key=value" with the value hidden where the key says that it is nobody's business.
std::string shown_setting(std::string_view setting) {
  constexpr std::array secrets{"secret", "password", "token", "credential", "access_key", "sas"};
  const std::size_t equals = setting.find('=');
  std::string key(setting.substr(0, equals));
  std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool secret = std::any_of(secrets.begin(), secrets.end(),
                                  [&](const char* word) { return key.find(word) != std::string::npos; });
  return secret && equals != std::string_view::npos ? std::string(setting.substr(0, equals + 1)) + "..."
                                                    : std::string(setting);
}

/// A location taken apart: what stands before the path, the path without '/' at its end, and a
/// URL's query with its '?'.
struct Parts {
  std::string start;
  std::string_view path;
  std::string query;
  bool is_url = false;
};

Parts parts_of(std::string_view location) {
  Parts parts;
  const std::string_view scheme = scheme_of(location);
  parts.is_url = !scheme.empty() && !scheme.starts_with(python_scheme_prefix);
  const std::size_t begin = scheme.empty() ? 0 : scheme.size() + separator.size();
  const std::size_t end = parts.is_url ? std::min(location.find('?'), location.size()) : location.size();
  parts.start = location.substr(0, begin);
  parts.path = location.substr(begin, end - begin);
  parts.query = location.substr(end);
  while (parts.path.size() > 1 && parts.path.ends_with('/')) parts.path.remove_suffix(1);
  return parts;
}

}  // namespace

std::string_view scheme_of(std::string_view location) {
  const std::size_t end = location.find(separator);
  return end == std::string_view::npos || location.front() == '/' ? std::string_view() : location.substr(0, end);
}

bool is_remote(std::string_view location) {
  const std::string_view scheme = scheme_of(location);
  return !scheme.empty() && scheme != "file";
}

Result<std::string> local_path(std::string_view location) {
  if (scheme_of(location) != "file") return std::string(location);
  const std::string_view path = location.substr(location.find(separator) + separator.size());
  if (path.empty() || path.front() != '/') {
    return Error{ErrorKind::invalid_argument, std::string(location) + " names a host; allowed: file:///path"};
  }
  return unescaped(path);
}

std::string join_location(std::string_view location, std::string_view name) {
  const std::string_view scheme = scheme_of(location);
  if (scheme.empty() || scheme.starts_with(python_scheme_prefix)) return joined(location, name);
  const std::size_t query = location.find('?');
  std::string path = joined(location.substr(0, query), escaped(name));
  return query == std::string_view::npos ? path : path.append(location.substr(query));
}

Result<std::string> name_below(std::string_view directory, std::string_view location) {
  const std::string start = join_location(directory, "");
  const bool has_query = !scheme_of(directory).empty() && !scheme_of(directory).starts_with(python_scheme_prefix);
  const std::size_t query = has_query ? std::min(start.find('?'), start.size()) : start.size();
  const std::size_t end = has_query ? std::min(location.find('?'), location.size()) : location.size();
  if (location.starts_with(start.substr(0, query)) && location.substr(end) == start.substr(query)) {
    std::string_view name = location.substr(query, end - query);
    while (name.ends_with('/')) name.remove_suffix(1);
    if (!name.empty() && name.find('/') == std::string_view::npos)
      return has_query ? unescaped(name) : Result<std::string>(std::string(name));
  }
  return Error{ErrorKind::invalid_argument, shown_location(location) + " is not in the run's folder " +
                                                shown_location(directory) + "; allowed: a directory right in it"};
}

std::string parent_location(std::string_view location) {
  const Parts parts = parts_of(location);
  const std::size_t slash = parts.path.rfind('/');
  if (slash == std::string_view::npos) return parts.start + parts.query;
  const std::string_view directory = parts.path.substr(0, slash == 0 ? 1 : slash);
  return parts.start + std::string(directory) + parts.query;
}

std::string name_of(std::string_view location) {
  const Parts parts = parts_of(location);
  const std::string_view name = parts.path.substr(parts.path.rfind('/') + 1);
  if (!parts.is_url) return std::string(name);
  const Result<std::string> plain = unescaped(name);
  return plain ? *plain : std::string(name);
}

std::string shown_location(std::string_view location) {
  const std::string_view scheme = scheme_of(location);
  if (scheme.empty() || scheme.starts_with(python_scheme_prefix)) return std::string(location);
  const std::size_t begin = scheme.size() + separator.size();
  const std::size_t query = std::min(location.find('?'), location.size());
  const std::size_t slash = std::min(location.find('/', begin), query);
  const std::size_t at = location.substr(0, slash).rfind('@');
  std::string text(location.substr(0, begin));
  text += location.substr(at == std::string_view::npos || at < begin ? begin : at + 1,
                          query - (at == std::string_view::npos || at < begin ? begin : at + 1));
  for (std::size_t from = query; from < location.size();) {
    const std::size_t next = std::min(location.find('&', from + 1), location.size());
    text += location[from];
    text += shown_setting(location.substr(from + 1, next - from - 1));
    from = next;
  }
  return text;
}

}  // namespace headway
