#include "flow/jpeg/pixels.hpp"

#include <cstddef>

namespace headway::flow {
namespace {

/// Big-endian, as both formats have it.
std::int32_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::int32_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return number;
}

/// Start of frame, of any kind: ITU-T T.81, table B.1.
bool is_frame(std::uint8_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

std::optional<ImageSize> jpeg_size(std::string_view bytes) {
  constexpr std::size_t frame_bytes = 9;  // Marker, length, precision, height, width.
  std::size_t at = 2;
  while (at + frame_bytes <= bytes.size() && bytes[at] == '\xff') {
    const auto marker = static_cast<std::uint8_t>(bytes[at + 1]);
    if (is_frame(marker)) return ImageSize{number_at(bytes, at + 5, 2), number_at(bytes, at + 7, 2)};
    at += 2 + static_cast<std::size_t>(number_at(bytes, at + 2, 2));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ImageSize> size_of_image(std::string_view bytes) {
  if (is_jpeg(bytes)) return jpeg_size(bytes);
  constexpr std::size_t png_size_at = 16;  // The first chunk is IHDR.
  if (!is_png(bytes) || bytes.size() < png_size_at + 8) return std::nullopt;
  const std::int32_t width = number_at(bytes, png_size_at, 4);
  return ImageSize{number_at(bytes, png_size_at + 4, 4), width};
}

}  // namespace headway::flow
