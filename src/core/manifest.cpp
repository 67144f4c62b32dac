#include "core/manifest.hpp"

#include <algorithm>

namespace headway {

bool is_own_name(std::string_view name) {
  return name == manifest_name || name == begun_marker_name || name.starts_with(part_prefix);
}

namespace {

/// The length of the UTF-8 character that `text` begins with; 0 when it begins with none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xC0) != 0x80) return 0;
  }
  // Longer than needed, surrogates, beyond the last code point.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// The text with '?' for each byte outside ASCII, for messages about text that is not UTF-8.
std::string ascii_only(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; }, '?');
  return shown;
}

}  // namespace

Result<void> check_file_name(std::string_view name) {
  const auto refuse = [&](const char* why) -> Result<void> {
    return Error{ErrorKind::invalid_argument, "checkpoint file name " + json_text(Json(std::string(name))) + " " + why};
  };
  if (!is_utf8(name)) {
    return Error{ErrorKind::invalid_argument, "checkpoint file name \"" + ascii_only(name) + "\" is not UTF-8"};
  }
  if (name.empty()) return refuse("is empty");
  if (name.front() == '/') return refuse("is absolute; names are relative to the checkpoint directory");
  if (name.find('\0') != std::string_view::npos) return refuse("holds a NUL");
  if (is_own_name(name.substr(0, name.find('/')))) return refuse("is Headway's own");
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t slash = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, slash - start);
    if (part.empty() || part == "." || part == "..") return refuse("has an empty, '.' or '..' part");
    start = slash + 1;
  }
  return {};
}

}  // namespace headway
