#include "flow/jpeg/pixels.hpp"

#include <arrow/status.h>

#ifdef HEADWAY_HAS_LIBJPEG
#include <cstdio>

#include <array>
#include <csetjmp>
#include <jerror.h>
#include <jpeglib.h>
#endif

namespace headway::flow {

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

#ifndef HEADWAY_HAS_LIBJPEG

arrow::Result<Pixels> decode_jpeg(std::string_view, const PixelMemory&) {
  return arrow::Status::NotImplemented("Headway was built without libjpeg");
}

#else

namespace {

/// An image of more is taken for a broken one, as Pillow takes it for a bomb.
constexpr std::int64_t jpeg_pixels_max = std::int64_t{2} * 89'478'485;

/// libjpeg's way to report errors is to never return.
struct JpegErrors {
  jpeg_error_mgr manager{};
  std::jmp_buf place{};
  std::array<char, JMSG_LENGTH_MAX> words{};
  bool ended_early = false;

  static JpegErrors& of(j_common_ptr info) { return *reinterpret_cast<JpegErrors*>(info->err); }

  static void fail(j_common_ptr info) {
    JpegErrors& errors = of(info);
    errors.manager.format_message(info, errors.words.data());
    std::longjmp(errors.place, 1);
  }
  static void note(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) of(info).ended_early = true;
  }
  static void print(j_common_ptr) {}
};

/// What lives while libjpeg works; nothing in it has a destructor that an error would leave out.
struct JpegDecoding {
  jpeg_decompress_struct info{};
  JpegErrors errors;
  bool too_large = false;

  JpegDecoding() {
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = JpegErrors::fail;
    errors.manager.emit_message = JpegErrors::note;
    errors.manager.output_message = JpegErrors::print;
  }
};

J_COLOR_SPACE colours_of(const jpeg_decompress_struct& info) {
  if (info.jpeg_color_space == JCS_GRAYSCALE) return JCS_GRAYSCALE;
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) return JCS_CMYK;
  return JCS_RGB;
}

/// False: an error, whose words are in `decoding`.
bool read_jpeg_head(JpegDecoding& decoding, std::string_view bytes) {
  if (setjmp(decoding.errors.place) != 0) return false;
  jpeg_decompress_struct& info = decoding.info;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  decoding.too_large = std::int64_t{info.image_width} * info.image_height > jpeg_pixels_max;
  if (decoding.too_large) return true;
  info.out_color_space = colours_of(info);
  info.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info);
  return true;
}

bool read_jpeg_rows(JpegDecoding& decoding, std::uint8_t* out, std::size_t row_bytes) {
  if (setjmp(decoding.errors.place) != 0) return false;
  jpeg_decompress_struct& info = decoding.info;
  while (info.output_scanline < info.output_height) {
    // As many rows at a time as libjpeg gives at once.
    std::array<JSAMPROW, 4> rows{};
    JDIMENSION count = 0;
    for (; count < rows.size() && info.output_scanline + count < info.output_height; ++count) {
      rows[count] = out + (info.output_scanline + count) * row_bytes;
    }
    jpeg_read_scanlines(&info, rows.data(), count);
  }
  jpeg_finish_decompress(&info);
  return true;
}

arrow::Result<Pixels> decode(JpegDecoding& decoding, std::string_view bytes, const PixelMemory& memory) {
  if (!read_jpeg_head(decoding, bytes))
    return arrow::Status::Invalid("it is a broken JPEG: ", decoding.errors.words.data());
  const jpeg_decompress_struct& info = decoding.info;
  if (decoding.too_large) {
    return arrow::Status::Invalid("its ", info.image_width, " x ", info.image_height, " pixels are too many");
  }
  ARROW_ASSIGN_OR_RAISE(Pixels image, Pixels::make(static_cast<std::int32_t>(info.output_height),
                                                   static_cast<std::int32_t>(info.output_width), info.output_components,
                                                   info.out_color_space == JCS_CMYK, memory));
  if (!read_jpeg_rows(decoding, image.data(), image.row_bytes())) {
    return arrow::Status::Invalid("it is a broken JPEG: ", decoding.errors.words.data());
  }
  if (decoding.errors.ended_early) return arrow::Status::Invalid("it is a broken JPEG: it ends early");
  // Adobe's files, which others follow, have inks inverted.
  if (image.cmyk) {
    for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] = static_cast<std::uint8_t>(255 - image.data()[i]);
  }
  return image;
}

}  // namespace

arrow::Result<Pixels> decode_jpeg(std::string_view bytes, const PixelMemory& memory) {
  JpegDecoding decoding;
  auto image = decode(decoding, bytes, memory);
  jpeg_destroy_decompress(&decoding.info);
  return image;
}

#endif

}  // namespace headway::flow
