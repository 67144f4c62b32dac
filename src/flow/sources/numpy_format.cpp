#include "core/location.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/numpy_header.hpp"
#include "flow/sources/one_batch.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/extension_type.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <cstring>

namespace headway::flow {
namespace {

/// numpy has a byte for each truth value, Arrow a bit.
arrow::Result<std::shared_ptr<arrow::Buffer>> as_bits(const arrow::Buffer& bytes, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto bits, arrow::AllocateEmptyBitmap(bytes.size(), pool));
  for (std::int64_t i = 0; i < bytes.size(); ++i) {
    if (bytes.data()[i] != 0) arrow::bit_util::SetBit(bits->mutable_data(), i);
  }
  return bits;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> swapped(const arrow::Buffer& values, std::int64_t value_bytes,
                                                      arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> made, arrow::AllocateBuffer(values.size(), pool));
  for (std::int64_t at = 0; at < values.size(); ++at) {
    const std::int64_t within = at % value_bytes;
    made->mutable_data()[at] = values.data()[at - within + (value_bytes - 1 - within)];
  }
  return made;
}

/// The values of an array whose first index changes from value to value, row by row.
arrow::Result<std::shared_ptr<arrow::Buffer>> row_by_row(const arrow::Buffer& values, const NumpyHeader& header,
                                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> made, arrow::AllocateBuffer(values.size(), pool));
  const auto bytes = static_cast<std::size_t>(header.value_bytes);
  std::vector<std::int64_t> index(header.shape.size(), 0);
  std::vector<std::int64_t> strides;
  std::int64_t stride = 1;
  for (const std::int64_t length : header.shape) {
    strides.push_back(stride);
    stride *= length;
  }
  std::int64_t from = 0;
  for (std::int64_t to = 0; to < values.size(); to += header.value_bytes) {
    std::memcpy(made->mutable_data() + to, values.data() + from * header.value_bytes, bytes);
    for (std::size_t i = index.size(); i-- > 0;) {
      from += strides[i];
      if (++index[i] < header.shape[i]) break;
      from -= strides[i] * header.shape[i];
      index[i] = 0;
    }
  }
  return made;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> as_arrow(std::shared_ptr<arrow::Buffer> values, const NumpyHeader& header,
                                                       arrow::MemoryPool* pool) {
  if (header.swapped) {
    ARROW_ASSIGN_OR_RAISE(values, swapped(*values, header.value_bytes, pool));
  }
  if (header.columns_first) {
    ARROW_ASSIGN_OR_RAISE(values, row_by_row(*values, header, pool));
  }
  return header.value_type->id() == arrow::Type::BOOL ? as_bits(*values, pool) : values;
}

class NumpyFormat : public FileFormat {
 public:
  explicit NumpyFormat(std::int64_t unit_bytes) : unit_bytes_(unit_bytes) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool* pool) override {
    auto header = header_of(files.front(), pool);
    if (!header.ok()) {
      return header.status().WithMessage(shown_location(files.front().location), ": ", header.status().message());
    }
    first_ = std::move(*header);
    schema_ = arrow::schema({arrow::field("data", first_.row_type())});
    return schema_;
  }

  /// Rows. A small file is one part, and its header is read with its rows.
  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    if (file.bytes < unit_bytes_ + unit_bytes_ / 2) {
      return std::vector<Piece>{{.file = index, .begin = 0, .end = -1, .rows = -1, .bytes = file.bytes}};
    }
    ARROW_ASSIGN_OR_RAISE(const NumpyHeader header, header_of(file, arrow::default_memory_pool()));
    ARROW_RETURN_NOT_OK(check(header));
    const std::int64_t row_bytes = header.values_of_a_row() * header.value_bytes;
    if (header.columns_first) {
      return std::vector<Piece>{
          {.file = index, .begin = 0, .end = header.rows(), .rows = header.rows(), .bytes = file.bytes}};
    }
    const std::int64_t rows_of_a_unit = std::max<std::int64_t>(unit_bytes_ / std::max<std::int64_t>(row_bytes, 1), 1);
    std::vector<Piece> pieces = byte_ranges(index, 0, header.rows(), rows_of_a_unit);
    for (Piece& piece : pieces) {
      piece.rows = piece.end - piece.begin;
      piece.bytes = piece.rows * row_bytes;
    }
    return pieces;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece& piece,
                                                                const std::vector<int>&,
                                                                arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const NumpyHeader header, read_numpy_header(*opened));
    ARROW_RETURN_NOT_OK(check(header));
    const std::int64_t end = piece.end < 0 ? header.rows() : piece.end;
    const std::int64_t row_bytes = header.values_of_a_row() * header.value_bytes;
    const std::int64_t rows = end - piece.begin;
    ARROW_ASSIGN_OR_RAISE(auto values, opened->ReadAt(header.data_begin + piece.begin * row_bytes, rows * row_bytes));
    if (values->size() < rows * row_bytes) {
      return arrow::Status::Invalid("it has ", file.bytes, " bytes; its header says ", header.rows(), " rows of ",
                                    row_bytes, " bytes");
    }
    ARROW_ASSIGN_OR_RAISE(values, as_arrow(std::move(values), header, pool));
    return one_batch(arrow::RecordBatch::Make(schema_, rows, {array_of_rows(header, rows, values)}));
  }

 private:
  static arrow::Result<NumpyHeader> header_of(const SourceFile& file, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
    return read_numpy_header(*opened);
  }

  arrow::Status check(const NumpyHeader& header) const {
    if (header.row_type()->Equals(*schema_->field(0)->type())) return arrow::Status::OK();
    return arrow::Status::Invalid("its rows are ", header.row_type()->ToString(), ", and those of the first file ",
                                  schema_->field(0)->type()->ToString());
  }

  static std::shared_ptr<arrow::Array> array_of_rows(const NumpyHeader& header, std::int64_t rows,
                                                     const std::shared_ptr<arrow::Buffer>& values) {
    const std::int64_t count = rows * header.values_of_a_row();
    auto flat = arrow::MakeArray(arrow::ArrayData::Make(header.value_type, count, {nullptr, values}, 0));
    if (header.shape.size() < 2) return flat;
    const auto width = static_cast<std::int32_t>(header.values_of_a_row());
    auto lists =
        std::make_shared<arrow::FixedSizeListArray>(arrow::fixed_size_list(header.value_type, width), rows, flat);
    return arrow::ExtensionType::WrapArray(header.row_type(), lists);
  }

  std::int64_t unit_bytes_;
  NumpyHeader first_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

FormatResult numpy_format(const data::ReadNode& read) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t unit_bytes, unit_bytes_of(read));
  return std::make_unique<NumpyFormat>(unit_bytes);
}

}  // namespace headway::flow
