#pragma once

#include <arrow/status.h>

#include <string>
#include <string_view>

/// Text in other encodings, by the system's iconv.
namespace headway::flow {

/// What some programs begin a UTF-8 file with; it is no part of the text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_utf8_encoding(const std::string& name);

/// Whether a byte 0x0a is always a line end, so that a file can be cut before it is decoded.
bool has_ascii_line_ends(const std::string& name);

/// Errors: Invalid for a name that nobody knows.
arrow::Status check_encoding(const std::string& name);

/// Appends to `text` what `bytes` begins with, in UTF-8, and takes that from `bytes`: an unfinished
/// character at the end stays. Errors: Invalid for other bytes.
arrow::Status decode(const std::string& name, std::string& bytes, std::string& text);

}  // namespace headway::flow
