"""Prints src/core/character_widths.cpp, from the tables of Unicode that the running Python has.

python3.13 scripts/character_widths.py > src/core/character_widths.cpp
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

_PER_LINE = 5
_SOFT_HYPHEN = 0xAD  # Shown where a line ends with it; terminals show it always.


def width(character: str) -> int:
    """How many columns of a terminal a character takes."""
    # Vowels and final consonants of Hangul stand over the consonant before them.
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return int(ord(character) == _SOFT_HYPHEN)
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _ranges(is_member: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Of all characters; what Unicode has not assigned is in a range that goes on behind it."""
    first = last = None
    for point in range(0x110000):
        character = chr(point)
        if is_member(character):
            first, last = (point if first is None else first), point
        elif first is not None and last is not None and unicodedata.category(character) != "Cn":
            yield first, last
            first = None
    if first is not None and last is not None:
        yield first, last


def _table(name: str, ranges: Iterator[tuple[int, int]]) -> str:
    cells = [f"{{0x{first:X}, 0x{last:X}}}," for first, last in ranges]
    lines = [" ".join(cells[at : at + _PER_LINE]) for at in range(0, len(cells), _PER_LINE)]
    return f"constexpr auto {name} = std::to_array<Range>({{\n" + "\n".join(f"    {line}" for line in lines) + "\n});\n"


def source() -> str:
    """The file's text."""
    return f"""// Written by scripts/character_widths.py, from Unicode {unicodedata.unidata_version}.
#include "core/character_widths.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace headway {{
namespace {{

struct Range {{
  char32_t first;
  char32_t last;
}};

// clang-format off
{_table("no_columns", _ranges(lambda each: width(each) == 0))}
{_table("two_columns", _ranges(lambda each: width(each) == 2))}// clang-format on

template <class Ranges>
bool is_in(const Ranges& ranges, char32_t character) {{
  const auto range = std::upper_bound(ranges.begin(), ranges.end(), character,
                                      [](char32_t value, const Range& each) {{ return value < each.first; }});
  return range != ranges.begin() && character <= std::prev(range)->last;
}}

}}  // namespace

std::size_t character_width(char32_t character) {{
  if (character < 0x300) return character == 0xAD || character >= ' ' ? 1 : 0;
  if (is_in(no_columns, character)) return 0;
  return is_in(two_columns, character) ? 2 : 1;
}}

}}  // namespace headway
"""


if __name__ == "__main__":
    print(source(), end="")
