#include "core/location.hpp"
#include "flow/jpeg/pixels.hpp"
#include "flow/shared_ring.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/one_batch.hpp"
#include "flow/sources/read_options.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/extension/variable_shape_tensor.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <optional>
#include <utility>

namespace headway::flow {
namespace {

/// How much larger pixels are than the file, as far as nobody knows better.
constexpr std::int64_t pixels_per_byte = 10;

struct ImageOptions {
  std::optional<ImageSize> size;
  std::int32_t channels = 0;  ///< 0: as the first file has it.
  bool keeps_depth = true;    ///< No colours were asked for: none may lose its lower bits.
};

class ImageFormat : public FileFormat {
 public:
  explicit ImageFormat(ImageOptions options) : options_(options) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool* pool) override {
    if (options_.channels == 0) {
      const SourceFile& first = files.front();
      ARROW_ASSIGN_OR_RAISE(const auto bytes, read_bytes(first.location, 0, first.bytes, pool));
      const auto image = decode_image(std::string_view(*bytes), {.pool = pool});
      if (!image.ok()) {
        return image.status().WithMessage(shown_location(first.location), ": ", image.status().message());
      }
      options_.channels = image->cmyk ? 3 : image->channels;
    }
    schema_ = arrow::schema({arrow::field("image", image_type())});
    return schema_;
  }

  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    const std::int64_t bytes = options_.size
                                   ? std::int64_t{options_.size->height} * options_.size->width * options_.channels
                                   : file.bytes * pixels_per_byte;
    return std::vector<Piece>{{.file = index, .begin = 0, .end = file.bytes, .rows = 1, .bytes = bytes}};
  }

  bool has_row_buffers() const override { return true; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece&,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    if (columns.empty()) return one_batch(arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector()));
    ARROW_ASSIGN_OR_RAISE(auto bytes, read_bytes(file.location, 0, file.bytes, arrow::default_memory_pool()));
    announce(std::string_view(*bytes));
    return std::make_shared<ImageReader>(*this, std::move(bytes), pool);
  }

 private:
  /// Decodes when its row is asked for.
  class ImageReader : public arrow::RecordBatchReader {
   public:
    ImageReader(const ImageFormat& format, std::shared_ptr<arrow::Buffer> bytes, arrow::MemoryPool* pool)
        : format_(format), bytes_(std::move(bytes)), pool_(pool) {}

    std::shared_ptr<arrow::Schema> schema() const override { return format_.schema_; }
    arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
      *out = nullptr;
      const auto bytes = std::exchange(bytes_, nullptr);
      return bytes ? format_.decode(std::string_view(*bytes), pool_).Value(out) : arrow::Status::OK();
    }

   private:
    const ImageFormat& format_;
    std::shared_ptr<arrow::Buffer> bytes_;
    arrow::MemoryPool* const pool_;
  };

  void announce(std::string_view bytes) const {
    RingPlace* const place = RingPlace::current();
    const auto size = place == nullptr || options_.size ? options_.size : size_of_image(bytes);
    if (place != nullptr && size) place->announce(std::int64_t{size->height} * size->width * options_.channels);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> decode(std::string_view bytes, arrow::MemoryPool* pool) const {
    const PixelMemory memory{pool, options_.channels, options_.size};
    ARROW_ASSIGN_OR_RAISE(Pixels image, decode_image(bytes, memory));
    if (image.was_deep_grey && options_.keeps_depth) {
      return arrow::Status::Invalid("its greys have 16 bits, and pixels here have 8: mode=\"L\" gives the upper ones; ",
                                    "read_binary_files and a function with Pillow keep them all");
    }
    if (options_.size) {
      ARROW_ASSIGN_OR_RAISE(image, resized(image, options_.size->height, options_.size->width, memory));
    }
    ARROW_ASSIGN_OR_RAISE(image, converted(std::move(image), options_.channels, memory));
    auto values = std::make_shared<arrow::UInt8Array>(image.bytes->size(), image.bytes);
    auto array = options_.size ? fixed_shape(values) : variable_shape(image, values);
    return arrow::RecordBatch::Make(schema_, 1, {std::move(array)});
  }

  /// Grey images have two dimensions.
  std::int32_t dimensions() const { return options_.channels == 1 ? 2 : 3; }

  std::shared_ptr<arrow::DataType> image_type() const {
    if (!options_.size) return arrow::extension::variable_shape_tensor(arrow::uint8(), dimensions());
    std::vector<std::int64_t> shape = {options_.size->height, options_.size->width};
    if (dimensions() == 3) shape.push_back(options_.channels);
    return arrow::extension::fixed_shape_tensor(arrow::uint8(), shape);
  }

  std::shared_ptr<arrow::Array> fixed_shape(const std::shared_ptr<arrow::Array>& values) const {
    const auto type = arrow::fixed_size_list(arrow::uint8(), static_cast<std::int32_t>(values->length()));
    return arrow::ExtensionType::WrapArray(schema_->field(0)->type(),
                                           std::make_shared<arrow::FixedSizeListArray>(type, 1, values));
  }

  std::shared_ptr<arrow::Array> variable_shape(const Pixels& image, const std::shared_ptr<arrow::Array>& values) const {
    const auto& extension = static_cast<const arrow::ExtensionType&>(*schema_->field(0)->type());
    const auto storage = extension.storage_type();
    const std::vector<std::int32_t> offsets = {0, static_cast<std::int32_t>(values->length())};
    auto data =
        std::make_shared<arrow::ListArray>(storage->field(0)->type(), 1, arrow::Buffer::FromVector(offsets), values);
    std::vector<std::int32_t> sizes = {image.height, image.width};
    if (dimensions() == 3) sizes.push_back(image.channels);
    auto flat = std::make_shared<arrow::Int32Array>(dimensions(), arrow::Buffer::FromVector(sizes));
    auto shape = std::make_shared<arrow::FixedSizeListArray>(storage->field(1)->type(), 1, flat);
    return arrow::ExtensionType::WrapArray(
        schema_->field(0)->type(), std::make_shared<arrow::StructArray>(storage, 1, arrow::ArrayVector{data, shape}));
  }

  ImageOptions options_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

FormatResult image_format(const data::ReadNode& read) {
  const OptionView options(read.options, read.format);
  ImageOptions made;
  ARROW_ASSIGN_OR_RAISE(const auto size, options.integers("size"));
  if (size) {
    constexpr std::int64_t side_max = 1 << 15;
    const auto fits = [](std::int64_t side) { return side >= 1 && side <= side_max; };
    if (size->size() != 2 || !fits(size->front()) || !fits(size->back())) {
      return options.misfit("size", "a height and a width from 1 to 32768");
    }
    made.size = {static_cast<std::int32_t>(size->front()), static_cast<std::int32_t>(size->back())};
  }
  ARROW_ASSIGN_OR_RAISE(const std::string mode, options.text("mode", ""));
  if (mode == "L")
    made.channels = 1;
  else if (mode == "RGB")
    made.channels = 3;
  else if (mode == "RGBA")
    made.channels = 4;
  else if (!mode.empty())
    return options.misfit("mode", "L, RGB or RGBA");
  made.keeps_depth = mode.empty();
  return std::make_unique<ImageFormat>(made);
}

}  // namespace headway::flow
