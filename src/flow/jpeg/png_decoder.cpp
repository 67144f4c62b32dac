#include "flow/jpeg/pixels.hpp"

#include <arrow/status.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#ifdef HEADWAY_HAS_LIBPNG
#include <png.h>
#endif

namespace headway::flow {

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

#ifndef HEADWAY_HAS_LIBPNG

arrow::Result<Pixels> decode_png(std::string_view, const PixelMemory&) {
  return arrow::Status::NotImplemented("Headway was built without libpng");
}

#else

namespace {

constexpr std::int64_t png_pixels_max = std::int64_t{2} * 89'478'485;

struct PngBytes {
  std::string_view rest;
  std::string words;
};

void read_png_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto& bytes = *static_cast<PngBytes*>(png_get_io_ptr(png));
  if (bytes.rest.size() < count) png_error(png, "it ends early");
  std::memcpy(out, bytes.rest.data(), count);
  bytes.rest.remove_prefix(count);
}

void fail_png(png_structp png, png_const_charp words) {
  static_cast<PngBytes*>(png_get_error_ptr(png))->words = words;
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

/// Eight bits a colour, palettes as colours; alpha only where the file's pixels have it.
bool read_png_head(png_structp png, png_infop info, Pixels& image) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_info(png, info);
  const png_byte type = png_get_color_type(png, info);
  image.was_deep_grey = type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, info) == 16;
  png_set_strip_16(png);
  png_set_expand(png);
  if ((type & PNG_COLOR_MASK_ALPHA) == 0) png_set_strip_alpha(png);
  if (type == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_gray_to_rgb(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  image.height = static_cast<std::int32_t>(png_get_image_height(png, info));
  image.width = static_cast<std::int32_t>(png_get_image_width(png, info));
  image.channels = png_get_channels(png, info);
  return true;
}

bool read_png_rows(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

arrow::Result<Pixels> decode(png_structp png, png_infop info, const PngBytes& bytes, const PixelMemory& memory) {
  Pixels image;
  if (!read_png_head(png, info, image)) return arrow::Status::Invalid("it is a broken PNG: ", bytes.words);
  if (std::int64_t{image.height} * image.width > png_pixels_max) {
    return arrow::Status::Invalid("its ", image.width, " x ", image.height, " pixels are too many");
  }
  const bool was_deep_grey = image.was_deep_grey;
  ARROW_ASSIGN_OR_RAISE(image, Pixels::make(image.height, image.width, image.channels, false, memory));
  image.was_deep_grey = was_deep_grey;
  std::vector<png_bytep> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(image.height); ++i) {
    rows.push_back(image.data() + i * image.row_bytes());
  }
  if (!read_png_rows(png, rows.data())) return arrow::Status::Invalid("it is a broken PNG: ", bytes.words);
  return image;
}

}  // namespace

arrow::Result<Pixels> decode_png(std::string_view bytes, const PixelMemory& memory) {
  PngBytes source{.rest = bytes, .words = {}};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, fail_png, ignore_warning);
  if (png == nullptr) return arrow::Status::OutOfMemory("cannot decode a PNG");
  png_infop info = png_create_info_struct(png);
  png_set_read_fn(png, &source, read_png_bytes);
  auto image = decode(png, info, source, memory);
  png_destroy_read_struct(&png, &info, nullptr);
  return image;
}

#endif

}  // namespace headway::flow
