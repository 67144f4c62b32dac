#include "core/labels.hpp"

#include "core/text.hpp"

#include <string_view>

namespace headway {
namespace {

/// `wanted` is "x" or "in(x, y)".
bool is_one_of(std::string_view value, std::string_view wanted) {
  if (!wanted.starts_with("in(") || !wanted.ends_with(')')) return value == wanted;
  wanted = wanted.substr(3, wanted.size() - 4);
  while (true) {
    const std::size_t comma = wanted.find(',');
    if (value == trimmed(wanted.substr(0, comma))) return true;
    if (comma == std::string_view::npos) return false;
    wanted.remove_prefix(comma + 1);
  }
}

}  // namespace

bool matches(const Labels& labels, const Labels& selector) {
  for (const auto& [name, wanted] : selector) {
    const auto label = labels.find(name);
    const bool not_wanted = wanted.starts_with('!');
    const bool found = label != labels.end() && is_one_of(label->second, std::string_view(wanted).substr(not_wanted));
    if (found == not_wanted) return false;
  }
  return true;
}

std::string labels_text(const Labels& labels) {
  std::string text = "{";
  for (const auto& [name, value] : labels) {
    if (text.size() > 1) text += ", ";
    text += name + ": " + value;
  }
  return text + "}";
}

}  // namespace headway
