#include "flow/jpeg/pixels.hpp"

#include "flow/shared_ring.hpp"

#include <arrow/status.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

// Compiled twice, and chosen by what the processor has. Sanitizers do not know such functions.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HEADWAY_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define HEADWAY_WIDE
#endif

namespace headway::flow {
namespace {

/// Weights are whole numbers of so many bits, as Pillow has them for 8-bit images
/// (src/libImaging/Resample.c of Pillow).
constexpr int weight_bits = 32 - 8 - 2;

/// Which inputs make an output, with which weights.
struct Weights {
  std::int32_t begin = 0;
  std::vector<std::int32_t> values;
};

/// As Pillow rounds it: a half goes up, and what is below -0.5 towards zero.
std::int32_t rounded(double value) {
  const double up = value + 0.5;
  return static_cast<std::int32_t>(up);
}

std::vector<Weights> weights_of(std::int32_t in, std::int32_t out) {
  const double scale = static_cast<double>(in) / out;
  const double support = std::max(scale, 1.0);
  std::vector<Weights> all(static_cast<std::size_t>(out));
  for (std::int32_t i = 0; i < out; ++i) {
    const double center = (i + 0.5) * scale;
    const std::int32_t begin = std::max(rounded(center - support), 0);
    const std::int32_t end = std::min(rounded(center + support), in);
    std::vector<double> exact;
    double sum = 0;
    for (std::int32_t x = begin; x < end; ++x) {
      const double distance = std::abs((x - center + 0.5) * (1.0 / support));
      exact.push_back(distance < 1.0 ? 1.0 - distance : 0.0);
      sum += exact.back();
    }
    Weights& weights = all[static_cast<std::size_t>(i)];
    weights.begin = begin;
    for (double value : exact) {
      if (sum != 0.0) value /= sum;
      weights.values.push_back(rounded(value * (1 << weight_bits)));
    }
  }
  return all;
}

std::uint8_t clipped(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, 255)); }

/// Four colours at once; the compiler makes vector instructions of it.
using FourBytes = std::uint8_t __attribute__((vector_size(4)));
using FourSums = std::int32_t __attribute__((vector_size(16)));

/// One row. `from` may be read for four bytes beyond its end.
template <std::int32_t channels>
HEADWAY_WIDE void resize_row(const std::uint8_t* from, const std::vector<Weights>& weights, std::uint8_t* to) {
  for (const Weights& one : weights) {
    constexpr std::int32_t half = 1 << (weight_bits - 1);
    FourSums sums = {half, half, half, half};
    const std::uint8_t* pixel = from + std::ptrdiff_t{one.begin} * channels;
    for (const std::int32_t weight : one.values) {
      FourBytes colours;
      std::memcpy(&colours, pixel, sizeof(colours));
      sums += __builtin_convertvector(colours, FourSums) * weight;
      pixel += channels;
    }
    for (std::int32_t c = 0; c < channels; ++c) *to++ = clipped(sums[c]);
  }
}

HEADWAY_WIDE void add_weighted(const std::uint8_t* from, std::int32_t weight, std::vector<std::int32_t>& sums) {
  std::int32_t* to = sums.data();
  const std::size_t count = sums.size();
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i] * weight;
}

void resize_rows(const Pixels& image, const std::vector<Weights>& weights, Pixels& out) {
  std::vector<std::uint8_t> row(image.row_bytes() + sizeof(FourBytes));
  for (std::int32_t i = 0; i < image.height; ++i) {
    std::memcpy(row.data(), image.data() + static_cast<std::size_t>(i) * image.row_bytes(), image.row_bytes());
    std::uint8_t* to = out.data() + static_cast<std::size_t>(i) * out.row_bytes();
    if (image.channels == 1)
      resize_row<1>(row.data(), weights, to);
    else if (image.channels == 3)
      resize_row<3>(row.data(), weights, to);
    else
      resize_row<4>(row.data(), weights, to);
  }
}

arrow::Result<Pixels> narrowed(const Pixels& image, std::int32_t width, const PixelMemory& memory) {
  ARROW_ASSIGN_OR_RAISE(Pixels out, Pixels::make(image.height, width, image.channels, image.cmyk, memory));
  resize_rows(image, weights_of(image.width, width), out);
  return out;
}

/// Whole rows at a time: sums of a row's bytes lie side by side.
arrow::Result<Pixels> shortened(const Pixels& image, std::int32_t height, const PixelMemory& memory) {
  ARROW_ASSIGN_OR_RAISE(Pixels out, Pixels::make(height, image.width, image.channels, image.cmyk, memory));
  const std::size_t row_bytes = out.row_bytes();
  std::vector<std::int32_t> sums(row_bytes);
  std::uint8_t* to = out.data();
  for (const Weights& one : weights_of(image.height, height)) {
    std::fill(sums.begin(), sums.end(), 1 << (weight_bits - 1));
    const std::uint8_t* from = image.data() + static_cast<std::size_t>(one.begin) * row_bytes;
    for (const std::int32_t weight : one.values) {
      add_weighted(from, weight, sums);
      from += row_bytes;
    }
    for (const std::int32_t sum : sums) *to++ = clipped(sum);
  }
  return out;
}

/// a * b / 255, rounded, as Pillow does it.
std::uint8_t scaled(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t product = a * b + 128;
  return static_cast<std::uint8_t>(((product >> 8U) + product) >> 8U);
}

/// Colours of transparent pixels must not show in their neighbours.
void premultiply(Pixels& image) {
  for (std::size_t i = 0; i + 3 < image.size(); i += 4) {
    std::uint8_t* pixel = image.data() + i;
    for (int c = 0; c < 3; ++c) pixel[c] = scaled(pixel[c], pixel[3]);
  }
}

void divide_by_alpha(Pixels& image) {
  for (std::size_t i = 0; i + 3 < image.size(); i += 4) {
    std::uint8_t* pixel = image.data() + i;
    if (pixel[3] == 0 || pixel[3] == 255) continue;
    for (int c = 0; c < 3; ++c) pixel[c] = static_cast<std::uint8_t>(std::min(255 * pixel[c] / pixel[3], 255));
  }
}

using Colour = std::array<std::uint8_t, 4>;

Colour colour_at(const Pixels& image, std::size_t pixel) {
  const std::uint8_t* at = image.data() + pixel * static_cast<std::size_t>(image.channels);
  if (image.channels == 1) return {at[0], at[0], at[0], 255};
  if (image.channels == 3) return {at[0], at[1], at[2], 255};
  if (!image.cmyk) return {at[0], at[1], at[2], at[3]};
  const auto with_black = [&](std::uint8_t ink) {
    const int light = 255 - at[3];
    return static_cast<std::uint8_t>(std::max(light - scaled(ink, static_cast<std::uint32_t>(light)), 0));
  };
  return {with_black(at[0]), with_black(at[1]), with_black(at[2]), 255};
}

}  // namespace

arrow::Result<Pixels> Pixels::make(std::int32_t height, std::int32_t width, std::int32_t channels, bool cmyk,
                                   const PixelMemory& memory) {
  Pixels made{.height = height, .width = width, .channels = channels, .cmyk = cmyk, .bytes = {}};
  const auto size = static_cast<std::int64_t>(made.size());
  const bool fits = !memory.size || (memory.size->height == height && memory.size->width == width);
  const bool is_last = channels == memory.channels && !cmyk && fits;
  ARROW_ASSIGN_OR_RAISE(made.bytes, is_last ? row_buffer(size, memory.pool) : AllocateBuffer(size, memory.pool));
  return made;
}

arrow::Result<Pixels> decode_image(std::string_view bytes, const PixelMemory& memory) {
  if (is_jpeg(bytes)) return decode_jpeg(bytes, memory);
  if (is_png(bytes)) return decode_png(bytes, memory);
  return arrow::Status::Invalid(
      "it is neither a JPEG nor a PNG; read_binary_files and a function with Pillow read others");
}

arrow::Result<Pixels> resized(const Pixels& image, std::int32_t height, std::int32_t width, const PixelMemory& memory) {
  if (height == image.height && width == image.width) return image;
  Pixels made = image;
  const bool transparent = image.channels == 4 && !image.cmyk;
  if (transparent) {
    ARROW_ASSIGN_OR_RAISE(made.bytes, image.bytes->CopySlice(0, image.bytes->size(), memory.pool));
    premultiply(made);
  }
  if (width != image.width) {
    ARROW_ASSIGN_OR_RAISE(made, narrowed(made, width, memory));
  }
  if (height != image.height) {
    ARROW_ASSIGN_OR_RAISE(made, shortened(made, height, memory));
  }
  if (transparent) divide_by_alpha(made);
  return made;
}

arrow::Result<Pixels> converted(Pixels image, std::int32_t channels, const PixelMemory& memory) {
  if (image.channels == channels && !image.cmyk) return image;
  ARROW_ASSIGN_OR_RAISE(Pixels out, Pixels::make(image.height, image.width, channels, false, memory));
  const std::size_t pixels = static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width);
  std::uint8_t* to = out.data();
  for (std::size_t i = 0; i < pixels; ++i) {
    const Colour colour = colour_at(image, i);
    if (channels == 1) {
      // ITU-R BT.601, as Pillow rounds it.
      *to++ = image.channels == 1 ? colour[0]
                                  : static_cast<std::uint8_t>(
                                        (colour[0] * 19595U + colour[1] * 38470U + colour[2] * 7471U + 0x8000U) >> 16U);
    } else {
      to = std::copy_n(colour.begin(), channels, to);
    }
  }
  return out;
}

}  // namespace headway::flow
