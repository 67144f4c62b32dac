#include "core/terminal_style.hpp"

#include <array>
#include <cstdlib>

namespace headway {
namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view red = "\x1b[31m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view plain_again = "\x1b[0m";

constexpr std::string_view notice_start = "headway: ";

struct StyledWord {
  std::string_view word;
  std::string_view style;
};
constexpr std::array styled_words{StyledWord{"warning:", yellow}, StyledWord{"error:", red},
                                  StyledWord{"critical:", red}, StyledWord{"failed", red},
                                  StyledWord{"Restarting", bold}};

std::string in_style(std::string_view style, std::string_view text) {
  return std::string(style).append(text).append(plain_again);
}

}  // namespace

bool takes_colours() {
  const char* const terminal = std::getenv("TERM");   // NOLINT(concurrency-mt-unsafe): as the program has set it.
  const char* const plain = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): the same.
  const bool clever = terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
  return clever && (plain == nullptr || *plain == '\0');
}

std::string in_bold(std::string_view text) { return in_style(bold, text); }

std::string in_dim(std::string_view text) { return in_style(dim, text); }

std::string styled_notice(std::string_view text) {
  if (!text.starts_with(notice_start)) return std::string(text);
  const std::string_view rest = text.substr(notice_start.size());
  for (const auto& [word, style] : styled_words) {
    const bool whole = rest.starts_with(word) && (rest.size() == word.size() || rest[word.size()] == ' ');
    if (whole) return std::string(notice_start).append(in_style(style, word)).append(rest.substr(word.size()));
  }
  return std::string(text);
}

}  // namespace headway
