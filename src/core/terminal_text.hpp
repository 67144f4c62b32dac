#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 text as a terminal shows it. Bytes that belong to no character count as one column each.
namespace headway {

/// How many columns of a terminal the text takes: characters of East Asia and emoji two each, marks
/// over other characters none. Where terminals differ (emoji that are joined to one), the most.
std::size_t text_width(std::string_view text);

/// The text, or as much of its beginning as `columns` hold. A character stays with its marks.
std::string cut_to(std::string_view text, std::size_t columns);

/// The same for text of parts with " · " between: as many whole parts as `columns` hold, or the
/// beginning of the first.
std::string cut_parts(std::string_view text, std::size_t columns);

/// The text with its colours, and without all other control sequences: those of a process that does
/// not own the terminal would move its cursor, or clear it.
std::string without_movements(std::string_view text);

/// The text as a part of one line: without colours, movements of the cursor, titles and other
/// control sequences, whole or cut off at the end. Tabs and line ends become blanks.
std::string without_escapes(std::string_view text);

}  // namespace headway
