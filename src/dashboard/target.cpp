#include "dashboard/target.hpp"

#include <charconv>
#include <cmath>

namespace headway::dashboard {
namespace {

constexpr std::size_t parts_max = 16;

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

/// Unset: it is no text that a URL may hold.
std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string plain;
  for (std::size_t place = 0; place < text.size(); ++place) {
    char letter = text[place];
    if (letter == '%') {
      if (place + 2 >= text.size()) return std::nullopt;
      const int high = digit_of(text[place + 1]);
      const int low = digit_of(text[place + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      letter = static_cast<char>(high * 16 + low);
      place += 2;
    } else if (static_cast<unsigned char>(letter) <= ' ' || static_cast<unsigned char>(letter) >= 0x7f) {
      return std::nullopt;
    } else if (letter == '+' && plus_is_space) {
      letter = ' ';
    }
    if (letter == '\0') return std::nullopt;
    plain += letter;
  }
  return plain;
}

Error no_url(std::string_view text) {
  return {ErrorKind::invalid_argument, "the address has " + std::to_string(text.size()) + " bytes that are no path"};
}

Error no_number(std::string_view name, const std::string& given) {
  return {ErrorKind::invalid_argument, std::string(name) + " is '" + given.substr(0, 40) + "'; allowed: a number"};
}

}  // namespace

const std::string& Target::text(std::string_view name) const {
  static const std::string none;
  const auto found = query.find(name);
  return found == query.end() ? none : found->second;
}

Result<std::optional<double>> Target::optional_number(std::string_view name) const {
  const std::string& given = text(name);
  if (given.empty()) return std::optional<double>();
  double value = 0;
  const auto [stop, failure] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (failure != std::errc() || stop != given.data() + given.size() || !std::isfinite(value)) {
    return no_number(name, given);
  }
  return std::optional(value);
}

Result<double> Target::number(std::string_view name, double otherwise, double least, double most) const {
  const Result<std::optional<double>> found = optional_number(name);
  if (!found) return found.error();
  const double value = found->value_or(otherwise);
  if (value >= least && value <= most) return value;
  return Error{ErrorKind::invalid_argument, std::string(name) + " is '" + text(name).substr(0, 40) +
                                                "'; allowed: from " + std::to_string(std::llround(least)) + " to " +
                                                std::to_string(std::llround(most))};
}

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return no_url(text);
  Target target;
  const std::size_t mark = text.find('?');
  std::string_view path = text.substr(1, mark == std::string_view::npos ? mark : mark - 1);
  std::string_view query = mark == std::string_view::npos ? "" : text.substr(mark + 1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty()) continue;
    auto plain = decoded(part, false);
    if (!plain || target.path.size() == parts_max) return no_url(text);
    target.path.push_back(std::move(*plain));
  }
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    auto name = decoded(part.substr(0, equals), true);
    auto value = decoded(equals == std::string_view::npos ? "" : part.substr(equals + 1), true);
    if (!name || !value || target.query.size() == parts_max) return no_url(text);
    target.query[*name] = std::move(*value);
  }
  return target;
}

}  // namespace headway::dashboard
