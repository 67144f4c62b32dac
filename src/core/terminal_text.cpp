#include "core/terminal_text.hpp"

#include "core/character_widths.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace headway {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr char escape = '\x1b';
constexpr char32_t shown_as_emoji = 0xFE0F;  // Variation selector 16.

/// A character with the marks that follow it.
struct Cell {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

char32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(character[index]); };
  if (character.size() == 1) return byte(0);
  char32_t value = byte(0) & (0xFFU >> (character.size() + 1));
  for (std::size_t index = 1; index < character.size(); ++index) value = value << 6U | (byte(index) & 0x3FU);
  return value;
}

/// `text` is not empty.
Cell first_cell(std::string_view text) {
  Cell cell{std::max<std::size_t>(utf8_length(text), 1), 1};
  if (utf8_length(text) > 0) cell.columns = character_width(code_point(text.substr(0, cell.bytes)));
  while (cell.bytes < text.size()) {
    const std::string_view rest = text.substr(cell.bytes);
    const std::size_t length = utf8_length(rest);
    if (length < 2) break;
    const char32_t mark = code_point(rest.substr(0, length));
    if (character_width(mark) > 0) break;
    if (mark == shown_as_emoji && cell.columns == 1) cell.columns = 2;
    cell.bytes += length;
  }
  return cell;
}

bool is_between(char byte, char first, char last) { return byte >= first && byte <= last; }

/// How long the control sequence is that `text` begins with (ECMA-48, 5.3 to 5.6).
std::size_t sequence_length(std::string_view text) {
  std::size_t at = 1;
  const auto skip = [&](char first, char last) {
    while (at < text.size() && is_between(text[at], first, last)) ++at;
  };
  const auto whole = [&] { return std::min(at + 1, text.size()); };
  if (text.size() < 2) return text.size();
  constexpr std::string_view strings = "]PX^_";
  if (text[1] == '[') {
    at = 2;
    skip('0', '?');
    skip(' ', '/');
    return at < text.size() && is_between(text[at], '@', '~') ? whole() : at;
  }
  if (strings.find(text[1]) != std::string_view::npos) {
    const std::size_t end = text.find_first_of("\x07\x1b", 2);
    if (end == std::string_view::npos) return text.size();
    return text[end] == escape && end + 1 < text.size() && text[end + 1] == '\\' ? end + 2
                                                                                 : end + (text[end] != escape);
  }
  skip(' ', '/');
  return at < text.size() && is_between(text[at], '0', '~') ? whole() : at;
}

bool is_control(char32_t character) { return character < ' ' || (character >= 0x7F && character < 0xA0); }

/// Those that turn the direction of text, or end a line.
bool moves_text(char32_t character) {
  return character == 0x200E || character == 0x200F || (character >= 0x2028 && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

}  // namespace

std::size_t text_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Cell cell = first_cell(text);
    columns += cell.columns;
    text.remove_prefix(cell.bytes);
  }
  return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  std::size_t taken = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Cell cell = first_cell(text.substr(bytes));
    taken += cell.columns;
    if (taken > columns) break;
    bytes += cell.bytes;
  }
  return std::string(text.substr(0, bytes));
}

std::string cut_parts(std::string_view text, std::size_t columns) {
  constexpr std::string_view between = " · ";
  std::string shown = cut_to(text, columns);
  if (shown.size() == text.size() || text.substr(shown.size()).starts_with(between)) return shown;
  // What was cut may have been in the middle of what stands between.
  const std::size_t end = text.rfind(between, shown.size());
  if (end != std::string_view::npos && end > 0) shown.resize(end);
  return shown;
}

std::string without_movements(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find(escape), text.size());
    kept += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::string_view sequence = text.substr(0, sequence_length(text));
    if (sequence.starts_with("\x1b[") && sequence.ends_with('m')) kept += sequence;
    text.remove_prefix(sequence.size());
  }
  return kept;
}

std::string without_escapes(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    if (text.front() == escape) {
      text.remove_prefix(sequence_length(text));
      continue;
    }
    const std::size_t length = utf8_length(text);
    const char32_t character = length > 0 ? code_point(text.substr(0, length)) : 0;
    if (length == 0) {
      shown += replacement;
    } else if (text.front() == '\t' || text.front() == '\n') {
      shown += ' ';
    } else if (!is_control(character) && !moves_text(character)) {
      shown += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

}  // namespace headway
