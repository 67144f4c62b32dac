#include "core/location.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/inference.hpp"

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace headway::flow {
namespace {

using FilePointer = std::shared_ptr<arrow::io::RandomAccessFile>;

constexpr std::string_view file_magic = "ARROW1";

/// A local file is mapped: what was written without compression is not copied.
arrow::Result<FilePointer> open_mapped(const std::string& location, arrow::MemoryPool* pool) {
  if (is_remote(location)) return open_file(location, pool);
  const Result<std::string> path = local_path(location);
  if (!path) return arrow::Status::Invalid(path.error().message);
  ARROW_ASSIGN_OR_RAISE(auto mapped, arrow::io::MemoryMappedFile::Open(*path, arrow::io::FileMode::READ));
  return mapped;
}

arrow::ipc::IpcReadOptions ipc_options(const std::vector<int>* columns, arrow::MemoryPool* pool) {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  if (columns != nullptr) {
    options.included_fields = *columns;
    std::sort(options.included_fields.begin(), options.included_fields.end());
  }
  return options;
}

/// A file in the file format or in the stream format.
class ArrowFormat : public FileFormat {
 public:
  explicit ArrowFormat(std::int64_t unit_bytes) : unit_bytes_(unit_bytes) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool* pool) override {
    auto schema = schema_of(files.front(), pool);
    if (!schema.ok()) {
      return schema.status().WithMessage(shown_location(files.front().location), ": ", schema.status().message());
    }
    schema_ = (*schema)->RemoveMetadata();
    return schema_;
  }

  /// Rows, cut where batches end and within large ones.
  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    arrow::MemoryPool* pool = arrow::default_memory_pool();
    ARROW_ASSIGN_OR_RAISE(const FilePointer opened, open_mapped(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const bool stream, is_stream(*opened));
    if (stream) return FileFormat::split(index, file);
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          arrow::ipc::RecordBatchFileReader::Open(opened, ipc_options(nullptr, pool)));
    ARROW_RETURN_NOT_OK(check_same_fields(*schema_, *reader->schema()));
    std::vector<Piece> pieces;
    std::vector<std::int64_t> begins = {0};
    for (int i = 0; i < reader->num_record_batches(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, reader->ReadRecordBatch(i));
      ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, arrow::util::ReferencedBufferSize(*batch));
      add_pieces(index, begins.back(), batch->num_rows(), bytes, pieces);
      begins.push_back(begins.back() + batch->num_rows());
    }
    const std::lock_guard lock(mutex_);
    batch_begins_[index] = std::move(begins);
    return pieces;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece& piece,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(const FilePointer opened, open_mapped(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const bool stream, is_stream(*opened));
    if (stream) return arrow::ipc::RecordBatchStreamReader::Open(opened, ipc_options(nullptr, pool));
    ARROW_ASSIGN_OR_RAISE(const std::vector<int> places, places_in(file, columns, pool));
    // Arrow allocates memory for all columns of a batch when some are chosen as it is read.
    const bool is_mapped = !is_remote(file.location);
    ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchFileReader::Open(
                                                 opened, ipc_options(is_mapped ? nullptr : &places, pool)));
    const std::vector<std::int64_t>& begins = begins_of(piece.file);
    const auto after = std::upper_bound(begins.begin(), begins.end(), piece.begin);
    const auto batch_index = static_cast<std::size_t>(after - begins.begin()) - 1;
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(static_cast<int>(batch_index)));
    if (is_mapped) {
      ARROW_ASSIGN_OR_RAISE(batch, batch->SelectColumns(places));
    }
    batch = batch->Slice(piece.begin - begins[batch_index], piece.end - piece.begin);
    return arrow::RecordBatchReader::Make({batch}, batch->schema());
  }

 private:
  static arrow::Result<bool> is_stream(arrow::io::RandomAccessFile& file) {
    ARROW_ASSIGN_OR_RAISE(const auto magic, file.ReadAt(0, static_cast<std::int64_t>(file_magic.size())));
    return std::string_view(*magic) != file_magic;
  }

  static arrow::Result<std::shared_ptr<arrow::Schema>> schema_of(const SourceFile& file, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(const FilePointer opened, open_mapped(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const bool stream, is_stream(*opened));
    if (stream) {
      ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchStreamReader::Open(opened));
      return reader->schema();
    }
    ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchFileReader::Open(opened));
    return reader->schema();
  }

  void add_pieces(std::size_t file, std::int64_t begin, std::int64_t rows, std::int64_t bytes,
                  std::vector<Piece>& pieces) const {
    if (rows == 0) return;
    const std::int64_t count = std::clamp<std::int64_t>(bytes / unit_bytes_, 1, rows);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t first = begin + rows * i / count;
      const std::int64_t last = begin + rows * (i + 1) / count;
      pieces.push_back({.file = file, .begin = first, .end = last, .rows = last - first, .bytes = bytes / count});
    }
  }

  const std::vector<std::int64_t>& begins_of(std::size_t file) const {
    const std::lock_guard lock(mutex_);
    return batch_begins_.at(file);
  }

  /// Where a file has the schema's columns.
  arrow::Result<std::vector<int>> places_in(const SourceFile& file, const std::vector<int>& columns,
                                            arrow::MemoryPool* pool) const {
    ARROW_ASSIGN_OR_RAISE(const auto schema, schema_of(file, pool));
    std::vector<int> places;
    for (const int column : columns) places.push_back(schema->GetFieldIndex(schema_->field(column)->name()));
    return places;
  }

  std::int64_t unit_bytes_;
  std::shared_ptr<arrow::Schema> schema_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::vector<std::int64_t>> batch_begins_;
};

}  // namespace

FormatResult arrow_format(const data::ReadNode& read) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t unit_bytes, unit_bytes_of(read));
  return std::make_unique<ArrowFormat>(unit_bytes);
}

}  // namespace headway::flow
