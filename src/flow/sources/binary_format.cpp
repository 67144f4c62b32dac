#include "flow/sources/formats.hpp"
#include "flow/sources/one_batch.hpp"
#include "flow/sources/read_options.hpp"

#include <arrow/array/array_binary.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <limits>

namespace headway::flow {
namespace {

/// One row: the file's bytes as they were read.
template <class ArrayType, class Offset>
std::shared_ptr<arrow::Array> one_value(const std::shared_ptr<arrow::Buffer>& bytes) {
  const std::vector<Offset> offsets = {0, static_cast<Offset>(bytes->size())};
  return std::make_shared<ArrayType>(1, arrow::Buffer::FromVector(offsets), bytes);
}

class BinaryFormat : public FileFormat {
 public:
  explicit BinaryFormat(bool reads) : reads_(reads) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool*) override {
    large_ = std::any_of(files.begin(), files.end(),
                         [](const SourceFile& file) { return file.bytes > std::numeric_limits<std::int32_t>::max(); });
    schema_ = arrow::schema({arrow::field("bytes", large_ ? arrow::large_binary() : arrow::binary())});
    return schema_;
  }

  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    Piece piece{.file = index, .begin = 0, .end = file.bytes, .rows = 1, .packed_bytes = file.bytes};
    piece.bytes = reads_ ? file.bytes : packed_bytes_min;  // Nobody knows those of a path's row.
    return std::vector<Piece>{piece};
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece&,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    if (columns.empty()) return one_batch(arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector()));
    ARROW_ASSIGN_OR_RAISE(const auto bytes, read_bytes(file.location, 0, file.bytes, pool));
    auto values = large_ ? one_value<arrow::LargeBinaryArray, std::int64_t>(bytes)
                         : one_value<arrow::BinaryArray, std::int32_t>(bytes);
    return one_batch(arrow::RecordBatch::Make(schema_, 1, {std::move(values)}));
  }

 private:
  bool reads_;
  bool large_ = false;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

FormatResult binary_format(const data::ReadNode& read) {
  ARROW_ASSIGN_OR_RAISE(const auto columns, OptionView(read.options, read.format).texts("columns"));
  const bool reads = !columns || std::ranges::find(*columns, "bytes") != columns->end();
  return std::make_unique<BinaryFormat>(reads);
}

}  // namespace headway::flow
