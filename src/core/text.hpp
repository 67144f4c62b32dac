#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text that comes from outside: names, output, words of errors.
namespace headway {

/// The length of the UTF-8 character that `text` begins with; 0 when it begins with none. `text` is
/// not empty.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

/// The text with U+FFFD for each byte that belongs to no UTF-8 character, so that it can be shown
/// and stored as JSON.
std::string to_utf8(std::string_view text);

/// The text without the blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

}  // namespace headway
