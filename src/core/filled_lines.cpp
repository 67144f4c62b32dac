#include "core/filled_lines.hpp"

#include "core/terminal_text.hpp"

#include <algorithm>

namespace headway {
namespace {

constexpr std::size_t columns_min = 40;
constexpr std::size_t further_in = 4;

std::string fill_line(std::string_view line, std::size_t columns) {
  if (text_width(line) <= columns) return std::string(line);
  const std::size_t depth = std::min(line.find_first_not_of(' '), line.size());
  std::string filled(line.substr(0, depth));
  std::size_t used = depth;
  bool begins = true;
  for (std::size_t at = depth; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const std::size_t width = text_width(word);
    if (!begins && used + 1 + width > columns) {
      filled.append("\n").append(depth + further_in, ' ');
      used = depth + further_in;
    } else if (!begins) {
      filled += ' ';
      ++used;
    }
    filled += word;
    used += width;
    begins = false;
    at = end + 1;
  }
  return filled;
}

}  // namespace

std::string fill_lines(std::string_view text, std::size_t columns) {
  std::string filled;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (at > 0) filled += '\n';
    filled += fill_line(text.substr(at, end - at), std::max(columns, columns_min));
    at = end + 1;
  }
  return filled;
}

}  // namespace headway
