#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway {

/// Text for a terminal of that many columns, as the Python front end fills it: of a line that is
/// too long, the words that do not fit go to the next line, four columns deeper than it began. A
/// word stays whole.
std::string fill_lines(std::string_view text, std::size_t columns);

}  // namespace headway
