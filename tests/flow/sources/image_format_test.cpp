#include "flow/jpeg/pixels.hpp"
#include "flow/sources/files_on_disk.hpp"

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/variable_shape_tensor.h>

#include <boost/test/unit_test.hpp>

#include <array>
#include <iterator>
#include <span>

namespace headway::flow {
namespace {

std::string image_path(const std::string& name) { return std::string(HEADWAY_TEST_IMAGES) + "/" + name; }

std::string image_bytes(const std::string& name) {
  std::ifstream file(image_path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// FNV-1a, as tests/fixtures/make_images.py prints it.
std::uint64_t fnv(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const std::uint8_t byte : bytes) value = (value ^ byte) * 0x100000001b3U;
  return value;
}

std::uint64_t fnv(const arrow::Result<Pixels>& image) {
  const Pixels pixels = must(image);
  return fnv({pixels.data(), pixels.size()});
}

/// What Pillow makes of a file.
struct Expected {
  const char* file;
  std::uint64_t grey;
  std::uint64_t rgb;
  std::uint64_t smaller;  ///< 16 x 20; 0: as Pillow resizes palettes and bits in another way.
  std::uint64_t larger;   ///< 50 x 61.
};

constexpr std::array<Expected, 6> images_of_pillow = {
    {{"rgb.jpg", 0x3cbe90e286f2c475, 0xaebfb596b19590d3, 0x9bd8f4e7ed0dbbb2, 0xe84c1cc8aa0654d7},
     {"grey.jpg", 0xd0de63e1b2210e92, 0x7dbbb05a1fd28f08, 0xe85c353a60c9b85b, 0xb43e7d8bcf49c94e},
     {"cmyk.jpg", 0xb4b25609e5637f7, 0xc8e5e3060850926b, 0x1e9e67fe3a8f39da, 0x3bfe885ca8d3109},
     {"rgba.png", 0xdbb4057c58212a3, 0x9d516304d675609d, 0x421d30dfd517ccd7, 0x5cc292a10e83a1d6},
     {"palette.png", 0xa2c6b24d8ce30003, 0xc8aa0f2126cb7e16, 0, 0},
     {"bits.png", 0x6540365540589079, 0x98f5d052884556a1, 0, 0}}};

std::shared_ptr<arrow::Array> storage_of_images(const arrow::Table& table) {
  return std::static_pointer_cast<arrow::ExtensionArray>(column_of(table, "image"))->storage();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(images)

BOOST_AUTO_TEST_CASE(are_decoded_converted_and_resized_as_pillow_does_it) {
  const PixelMemory memory{arrow::default_memory_pool()};
  for (const Expected& expected : images_of_pillow) {
    const Pixels image = must(decode_image(image_bytes(expected.file), memory));
    BOOST_TEST_CONTEXT(expected.file) {
      BOOST_TEST(image.height == 30);
      BOOST_TEST(image.width == 40);
      BOOST_TEST(fnv(converted(image, 1, memory)) == expected.grey);
      BOOST_TEST(fnv(converted(image, 3, memory)) == expected.rgb);
      if (expected.smaller == 0) continue;
      BOOST_TEST(fnv(converted(must(resized(image, 16, 20, memory)), 3, memory)) == expected.smaller);
      BOOST_TEST(fnv(converted(must(resized(image, 50, 61, memory)), 3, memory)) == expected.larger);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_one_size_are_tensors_of_a_fixed_shape) {
  const auto table = must(rows_of(read_node("images", {image_path("*.jpg"), image_path("rgba.png")},
                                            R"({"size": [16, 20], "mode": "RGB", "include_paths": true})")));
  BOOST_TEST(table->num_rows() == 4);
  BOOST_TEST(
      table->schema()->field(0)->type()->Equals(*arrow::extension::fixed_shape_tensor(arrow::uint8(), {16, 20, 3})));
  const auto storage = storage_of_images(*table);
  const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*storage);
  const auto& values = static_cast<const arrow::UInt8Array&>(*lists.values());
  const std::size_t bytes = std::size_t{16} * 20 * 3;
  // The third file by name is rgb.jpg.
  BOOST_TEST(fnv({values.raw_values() + 2 * bytes, bytes}) == images_of_pillow[0].smaller);
  const auto grey = must(rows_of(read_node("images", {image_path("rgb.jpg")}, R"({"size": [16, 20], "mode": "L"})")));
  BOOST_TEST(grey->schema()->field(0)->type()->Equals(*arrow::extension::fixed_shape_tensor(arrow::uint8(), {16, 20})));
}

BOOST_AUTO_TEST_CASE(of_any_size_keep_theirs) {
  const auto table = must(rows_of(read_node("images", {image_path("rgb.jpg"), image_path("palette.png")})));
  BOOST_TEST(table->schema()->field(0)->type()->Equals(*arrow::extension::variable_shape_tensor(arrow::uint8(), 3)));
  const auto storage = storage_of_images(*table);
  const auto& structs = static_cast<const arrow::StructArray&>(*storage);
  BOOST_TEST(structs.field(1)->Equals(*array_of_text(structs.field(1)->type(), "[[30, 40, 3], [30, 40, 3]]")));
  BOOST_TEST(static_cast<const arrow::ListArray&>(*structs.field(0)).value_length(1) == 3600);
  const auto counted = opened(read_node("images", {image_path("rgb.jpg")}));
  BOOST_TEST(counted->units()[0].rows == 1);
}

BOOST_AUTO_TEST_CASE(that_are_broken_or_of_another_kind_are_named) {
  const FilesOnDisk disk;
  const auto words = [&](const std::string& name, const std::string& bytes) {
    return error_of(rows_of(read_node("images", {disk.write(name, bytes)}, R"({"mode": "RGB"})")));
  };
  const std::string jpeg = image_bytes("rgb.jpg");
  BOOST_TEST(
      contains(words("short.jpg", jpeg.substr(0, jpeg.size() - 60)), "short.jpg: it is a broken JPEG: it ends early"));
  BOOST_TEST(contains(words("bad.jpg", jpeg.substr(0, 30)), "bad.jpg: it is a broken JPEG"));
  const std::string png = image_bytes("rgba.png");
  BOOST_TEST(
      contains(words("short.png", png.substr(0, png.size() / 2)), "short.png: it is a broken PNG: it ends early"));
  BOOST_TEST(contains(words("a.gif", "GIF89a"), "a.gif: it is neither a JPEG nor a PNG; read_binary_files"));
  BOOST_TEST(contains(error_of(rows_of(read_node("images", {image_path("rgb.jpg")}, R"({"mode": "HSV"})"))),
                      "mode of the format images is L, RGB or RGBA; found \"HSV\""));
  BOOST_TEST(contains(error_of(rows_of(read_node("images", {image_path("rgb.jpg")}, R"({"size": [0, 5]})"))), "size"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
