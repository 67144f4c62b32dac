#include "core/output_line.hpp"

#include "core/terminal_text.hpp"

#include <algorithm>
#include <string>

namespace headway {
namespace {

/// Sorted: a bar changes from "it/s" to "s/it" when it gets slow.
std::string letters_of(std::string_view text) {
  std::string letters;
  std::copy_if(text.begin(), text.end(), std::back_inserter(letters),
               [](char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); });
  std::sort(letters.begin(), letters.end());
  return letters;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(' ') == std::string_view::npos; }

}  // namespace

OutputLine output_line(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t start = line.rfind('\r');
  if (start == std::string_view::npos) return {without_movements(line)};
  OutputLine found{without_movements(line.substr(start + 1))};
  const std::string letters = letters_of(found.seen);
  for (std::string_view earlier = line.substr(0, start); !earlier.empty() && !found.ended_bar;) {
    const std::size_t from = earlier.rfind('\r') + 1;
    const std::string_view drawing = earlier.substr(from);
    found.ended_bar = !is_blank(drawing) && letters_of(drawing) == letters;
    earlier = earlier.substr(0, from == 0 ? 0 : from - 1);
  }
  return found;
}

}  // namespace headway
