#include "core/location.hpp"
#include "flow/large_blocks.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/large_pages.hpp"
#include "flow/sources/mapped_file.hpp"
#include "flow/sources/read_options.hpp"

#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace headway::flow {
namespace {

using Metadata = std::shared_ptr<parquet::FileMetaData>;

/// A row group with more is decoded in parts: its first rows come sooner, and it needs less memory
/// at a time. From a server the columns of more come at once.
constexpr std::int64_t whole_group_bytes_max = std::int64_t{16} << 20;
constexpr std::int64_t whole_remote_group_bytes_max = std::int64_t{64} << 20;
/// What the columns of a larger one are asked for together, and one of them at most, with each
/// round of requests to a server.
constexpr std::int64_t round_bytes = std::int64_t{32} << 20;
constexpr std::int64_t request_bytes_max = std::int64_t{4} << 20;
/// Where columns are so many that each would be asked for less, all come at once if all rows are
/// decoded at once anyway.
constexpr std::int64_t request_bytes_min = std::int64_t{256} << 10;
/// Of a part of a row group.
constexpr std::int64_t group_part_bytes = std::int64_t{32} << 20;
/// How many files' footers are kept.
constexpr std::size_t footers_max = 32;

/// The footers that were read last.
class Footers {
 public:
  Metadata find(std::size_t file) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == file; });
    return found == kept_.end() ? nullptr : found->second;
  }
  void keep(std::size_t file, Metadata metadata) {
    const std::lock_guard lock(mutex_);
    kept_.emplace_back(file, std::move(metadata));
    if (kept_.size() > footers_max) kept_.pop_front();
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<std::size_t, Metadata>> kept_;
};

/// The columns (leaves) of a file that belong to its field of this name; empty when it has none.
std::vector<int> leaves_of(const parquet::SchemaDescriptor& schema, const std::string& name) {
  std::vector<int> leaves;
  for (int i = 0; i < schema.num_columns(); ++i) {
    if (schema.GetColumnRoot(i)->name() == name) leaves.push_back(i);
  }
  return leaves;
}

/// What a column's values take when they are decoded: by width where it is fixed.
std::int64_t decoded_bytes(const parquet::ColumnDescriptor& column, const parquet::ColumnChunkMetaData& chunk) {
  switch (column.physical_type()) {
    case parquet::Type::BOOLEAN: return chunk.num_values() / 8;
    case parquet::Type::INT32:
    case parquet::Type::FLOAT: return chunk.num_values() * 4;
    case parquet::Type::INT64:
    case parquet::Type::INT96:
    case parquet::Type::DOUBLE: return chunk.num_values() * 8;
    case parquet::Type::FIXED_LEN_BYTE_ARRAY: return chunk.num_values() * column.type_length();
    default: return chunk.total_uncompressed_size() + chunk.num_values() * 4;
  }
}

class ParquetFormat : public FileFormat {
 public:
  explicit ParquetFormat(std::optional<std::vector<std::string>> columns) : asked_(std::move(columns)) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool* pool) override {
    auto schema = first_schema(files.front(), pool);
    if (!schema.ok()) {
      return schema.status().WithMessage(shown_location(files.front().location), ": ", schema.status().message());
    }
    schema_ = (*schema)->RemoveMetadata();
    return schema_;
  }

  /// Row groups; the columns that are asked for decide how large they are.
  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, arrow::default_memory_pool()));
    ARROW_ASSIGN_OR_RAISE(const Metadata metadata, footer(index, opened));
    ARROW_RETURN_NOT_OK(check_fields(*metadata->schema()));
    std::vector<Piece> pieces;
    for (int group = 0; group < metadata->num_row_groups(); ++group) {
      const auto rows = metadata->RowGroup(group);
      Piece piece{.file = index, .begin = group, .end = group + 1, .rows = rows->num_rows(), .packed_bytes = 0};
      for (int i = 0; i < metadata->num_columns(); ++i) {
        const std::int64_t bytes = decoded_bytes(*metadata->schema()->Column(i), *rows->ColumnChunk(i));
        piece.packed_bytes += bytes;
        if (is_asked(metadata->schema()->GetColumnRoot(i)->name())) piece.bytes += bytes;
      }
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece& piece,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    const bool remote = is_remote(file.location);
    const bool whole = piece.bytes <= (remote ? whole_remote_group_bytes_max : whole_group_bytes_max);
    ARROW_ASSIGN_OR_RAISE(Opened opened, open_to_read(file, pool));
    ARROW_ASSIGN_OR_RAISE(const Metadata metadata, footer(piece.file, opened.file));
    std::vector<int> leaves;
    for (const int column : columns) {
      const std::vector<int> more = leaves_of(*metadata->schema(), schema_->field(column)->name());
      leaves.insert(leaves.end(), more.begin(), more.end());
    }
    std::sort(leaves.begin(), leaves.end());
    const auto group = static_cast<int>(piece.begin);
    // Requests for remote ranges are joined. Columns of a local file that are not compressed are
    // read where they are mapped; others in pieces that stay in the processor's cache until they
    // are decompressed, which takes less time than to map their pages.
    const auto columns_read = static_cast<std::int64_t>(std::max<std::size_t>(leaves.size(), 1));
    const std::int64_t request = remote ? std::min(round_bytes / columns_read, request_bytes_max) : 0;
    const bool together = remote && request < request_bytes_min;
    const std::int64_t part_rows = together ? part_rows_max : rows_of_a_part(piece, group_part_bytes);
    const bool one_part = piece.rows <= part_rows;
    const bool joined = remote && (whole || (one_part && together));
    const bool maps = opened.mapped && opened.mapped->maps();
    const bool fits = maps && can_be_mapped(*metadata->RowGroup(group), leaves);
    const std::int64_t buffer = joined || fits ? 0 : std::max(request, parquet::kDefaultBufferSize);
    ARROW_ASSIGN_OR_RAISE(auto reader, reader_of(opened.file, metadata, joined, buffer, part_rows, pool));
    if (!whole) {
      ARROW_ASSIGN_OR_RAISE(auto parts, reader->GetRecordBatchReader({group}, leaves));
      auto checked = std::make_shared<Parts>(std::move(opened), std::move(reader), std::move(parts), piece);
      // A single part needs no pages beside it while its rows are used.
      if (one_part) return all_of(std::move(checked));
      return checked;
    }
    const auto table = reader->ReadRowGroup(group, leaves);
    ARROW_RETURN_NOT_OK(opened.check());
    ARROW_RETURN_NOT_OK(table.status());
    for (const auto& column : (*table)->columns()) ARROW_RETURN_NOT_OK(check_rows(column->length(), piece.rows));
    return std::make_shared<arrow::TableBatchReader>(*table);
  }

 private:
  struct Opened {
    std::shared_ptr<arrow::io::RandomAccessFile> file;
    std::shared_ptr<MappedFile> mapped;  ///< The same; null: it is no local one.

    arrow::Status check() const { return mapped ? mapped->check() : arrow::Status::OK(); }
  };

  static arrow::Result<Opened> open_to_read(const SourceFile& file, arrow::MemoryPool* pool) {
    const Result<std::string> path = is_remote(file.location) ? Result<std::string>("") : local_path(file.location);
    if (!path || path->empty()) {
      ARROW_ASSIGN_OR_RAISE(auto opened, open_file(file.location, pool));
      return Opened{std::move(opened), nullptr};
    }
    ARROW_ASSIGN_OR_RAISE(auto mapped, MappedFile::open(*path, pool));
    return Opened{mapped, mapped};
  }

  /// Whether each of these columns is as it is in memory, and small enough.
  static bool can_be_mapped(const parquet::RowGroupMetaData& group, const std::vector<int>& columns) {
    return std::ranges::all_of(columns, [&](int column) {
      const auto chunk = group.ColumnChunk(column);
      return chunk->compression() == parquet::Compression::UNCOMPRESSED &&
             chunk->total_compressed_size() <= MappedFile::range_max;
    });
  }

  /// Arrow takes a file that ends between two pages for the end of the column.
  static arrow::Status check_rows(std::int64_t rows, std::int64_t expected) {
    if (rows == expected) return arrow::Status::OK();
    return arrow::Status::Invalid("it has become shorter while it was read: ", rows, " of ", expected, " rows came");
  }

  static arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> all_of(
      std::shared_ptr<arrow::RecordBatchReader> parts) {
    const std::shared_ptr<arrow::Schema> schema = parts->schema();
    ARROW_ASSIGN_OR_RAISE(auto batches, parts->ToRecordBatches());
    parts.reset();
    arrow::default_memory_pool()->ReleaseUnused();  // The allocator would keep the pages.
    return arrow::RecordBatchReader::Make(std::move(batches), schema);
  }

  /// Keeps the file's reader as long as what reads from it.
  class Parts : public arrow::RecordBatchReader {
   public:
    Parts(Opened opened, std::unique_ptr<parquet::arrow::FileReader> file,
          std::unique_ptr<arrow::RecordBatchReader> parts, const Piece& piece)
        : opened_(std::move(opened)), file_(std::move(file)), parts_(std::move(parts)), expected_(piece.rows) {}
    std::shared_ptr<arrow::Schema> schema() const override { return parts_->schema(); }
    arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
      arrow::Status read = parts_->ReadNext(out);
      ARROW_RETURN_NOT_OK(opened_.check());
      ARROW_RETURN_NOT_OK(read);
      if (!*out) return check_rows(rows_, expected_);
      rows_ += (*out)->num_rows();
      return arrow::Status::OK();
    }

   private:
    Opened opened_;
    std::unique_ptr<parquet::arrow::FileReader> file_;
    std::unique_ptr<arrow::RecordBatchReader> parts_;
    const std::int64_t expected_;
    std::int64_t rows_ = 0;
  };

  bool is_asked(const std::string& name) const {
    return !asked_ || std::find(asked_->begin(), asked_->end(), name) != asked_->end();
  }

  static arrow::Result<std::shared_ptr<arrow::Schema>> first_schema(const SourceFile& file, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const auto reader, reader_of(opened, nullptr, false, 0, part_rows_max, pool));
    std::shared_ptr<arrow::Schema> schema;
    ARROW_RETURN_NOT_OK(reader->GetSchema(&schema));
    return schema;
  }

  arrow::Result<Metadata> footer(std::size_t index, const std::shared_ptr<arrow::io::RandomAccessFile>& opened) const {
    if (Metadata kept = footers_.find(index)) return kept;
    BEGIN_PARQUET_CATCH_EXCEPTIONS
    Metadata metadata = parquet::ReadMetaData(opened);
    footers_.keep(index, metadata);
    return metadata;
    END_PARQUET_CATCH_EXCEPTIONS
  }

  /// Pages are decompressed into memory of Arrow's own pool, and values decoded into `pool`.
  /// `buffer`: so many bytes of a column are read at a time; 0: all. `part_rows`: so many rows are
  /// decoded at a time.
  static arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> reader_of(
      const std::shared_ptr<arrow::io::RandomAccessFile>& opened, const Metadata& metadata, bool joined,
      std::int64_t buffer, std::int64_t part_rows, arrow::MemoryPool* pool) {
    parquet::ReaderProperties bytes(large_blocks());
    parquet::ArrowReaderProperties values(/*use_threads=*/false);
    values.set_pre_buffer(joined);
    values.set_batch_size(part_rows);
    if (buffer > 0) {
      bytes.enable_buffered_stream();
      bytes.set_buffer_size(buffer);
    }
    BEGIN_PARQUET_CATCH_EXCEPTIONS
    auto file = joined ? parquet::ParquetFileReader::Open(opened, bytes, metadata)
                       : without_used_pages(opened, bytes, metadata);
    return parquet::arrow::FileReader::Make(pool, std::move(file), values);
    END_PARQUET_CATCH_EXCEPTIONS
  }

  /// A file must have the columns that are asked for, and no others where all are.
  arrow::Status check_fields(const parquet::SchemaDescriptor& schema) const {
    const parquet::schema::GroupNode& root = *schema.group_node();
    for (const auto& field : schema_->fields()) {
      if (!is_asked(field->name()) || root.FieldIndex(field->name()) >= 0) continue;
      return arrow::Status::Invalid("the column ", field->name(), " is missing");
    }
    for (int i = 0; i < root.field_count() && !asked_; ++i) {
      if (schema_->GetFieldIndex(root.field(i)->name()) >= 0) continue;
      return arrow::Status::Invalid("it has the additional column ", root.field(i)->name(),
                                    "; the columns are those of the first file");
    }
    return arrow::Status::OK();
  }

  std::optional<std::vector<std::string>> asked_;
  std::shared_ptr<arrow::Schema> schema_;
  mutable Footers footers_;
};

}  // namespace

FormatResult parquet_format(const data::ReadNode& read) {
  ARROW_ASSIGN_OR_RAISE(auto columns, OptionView(read.options, read.format).texts("columns"));
  return std::make_unique<ParquetFormat>(std::move(columns));
}

}  // namespace headway::flow
