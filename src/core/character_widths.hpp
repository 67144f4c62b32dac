#pragma once

#include <cstddef>

namespace headway {

/// How many columns of a terminal a character of Unicode takes: 0 for marks over other characters
/// and for what is not shown, 2 for wide ones of East Asia and for emoji, else 1.
std::size_t character_width(char32_t character);

}  // namespace headway
