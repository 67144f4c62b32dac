#pragma once

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

/// Images as bytes, row by row, colours of a pixel side by side.
namespace headway::flow {

struct ImageSize {
  std::int32_t height = 0;
  std::int32_t width = 0;
};

/// Where images are made. One that has this form is the last of its row, and is made in a buffer of
/// `row_buffer`; others are made in `pool` on the way to it.
struct PixelMemory {
  arrow::MemoryPool* pool = nullptr;
  std::int32_t channels = 0;           ///< 0: no image is the last one.
  std::optional<ImageSize> size = {};  ///< Unset: of any size.
};

struct Pixels {
  std::int32_t height = 0;
  std::int32_t width = 0;
  std::int32_t channels = 0;  ///< 1: grey, 3: RGB, 4: RGBA, or CMYK where `cmyk` says so.
  bool cmyk = false;
  bool was_deep_grey = false;  ///< The file has greys of 16 bits, of which these are the upper 8.
  std::shared_ptr<arrow::Buffer> bytes;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels); }
  std::size_t size() const { return row_bytes() * static_cast<std::size_t>(height); }
  std::uint8_t* data() { return bytes->mutable_data(); }
  const std::uint8_t* data() const { return bytes->data(); }

  /// An image of this form whose bytes are not set. Errors: OutOfMemory.
  static arrow::Result<Pixels> make(std::int32_t height, std::int32_t width, std::int32_t channels, bool cmyk,
                                    const PixelMemory& memory);
};

/// Whether the bytes begin as those of such a file do.
bool is_jpeg(std::string_view bytes);
bool is_png(std::string_view bytes);

/// What the file's head says, without a look at the rest; nothing where it does not say it.
std::optional<ImageSize> size_of_image(std::string_view bytes);

/// As Pillow decodes them: without the orientation that Exif may ask for, and CMYK with its inks as
/// Pillow has them. Errors: Invalid for what is broken, too short or too large; NotImplemented when
/// Headway was built without the library.
arrow::Result<Pixels> decode_jpeg(std::string_view bytes, const PixelMemory& memory);
arrow::Result<Pixels> decode_png(std::string_view bytes, const PixelMemory& memory);

/// By what the bytes are. Errors: Invalid for another kind of image too.
arrow::Result<Pixels> decode_image(std::string_view bytes, const PixelMemory& memory);

/// The same as Pillow's `resize((width, height), BILINEAR)`, bit by bit: with the filter as wide as
/// the reduction asks for.
arrow::Result<Pixels> resized(const Pixels& image, std::int32_t height, std::int32_t width, const PixelMemory& memory);

/// The same as Pillow's `convert` to L (1), RGB (3) or RGBA (4).
arrow::Result<Pixels> converted(Pixels image, std::int32_t channels, const PixelMemory& memory);

}  // namespace headway::flow
