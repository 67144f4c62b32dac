#include "core/text.hpp"
#include "flow/sources/read_options.hpp"
#include "flow/writers/file_encoder.hpp"

#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/csv/writer.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/table.h>
#include <arrow/type_traits.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/compression.h>

#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using EncoderResult = arrow::Result<std::unique_ptr<FileEncoder>>;
using OutputFile = std::shared_ptr<arrow::io::FileOutputStream>;

/// Rows wait for so many bytes, as a row group is what is read at once.
constexpr std::int64_t group_bytes = std::int64_t{32} << 20;

class ParquetEncoder : public FileEncoder {
 public:
  ParquetEncoder(std::shared_ptr<arrow::Schema> schema, OutputFile out,
                 std::unique_ptr<parquet::arrow::FileWriter> writer)
      : schema_(std::move(schema)), out_(std::move(out)), writer_(std::move(writer)) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, arrow::util::ReferencedBufferSize(rows));
    waiting_.push_back(rows.Slice(0));
    bytes_ += bytes;
    return bytes_ < group_bytes ? arrow::Status::OK() : write_group();
  }

  arrow::Status finish() override {
    ARROW_RETURN_NOT_OK(write_group());
    ARROW_RETURN_NOT_OK(writer_->Close());
    return out_->Close();
  }

 private:
  arrow::Status write_group() {
    if (waiting_.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto table, arrow::Table::FromRecordBatches(schema_, std::exchange(waiting_, {})));
    bytes_ = 0;
    return writer_->WriteTable(*table, std::max<std::int64_t>(table->num_rows(), 1));
  }

  std::shared_ptr<arrow::Schema> schema_;
  OutputFile out_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> waiting_;
  std::int64_t bytes_ = 0;
};

class ParquetWriting : public FileWriting {
 public:
  ParquetWriting(arrow::Compression::type compression, arrow::MemoryPool* pool)
      : compression_(compression), pool_(pool) {}

  const char* extension() const override { return ".parquet"; }

  EncoderResult begin(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) const override {
    ARROW_ASSIGN_OR_RAISE(const OutputFile out, arrow::io::FileOutputStream::Open(path));
    const auto properties = parquet::WriterProperties::Builder().compression(compression_)->memory_pool(pool_)->build();
    const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
    ARROW_ASSIGN_OR_RAISE(auto writer,
                          parquet::arrow::FileWriter::Open(*schema, pool_, out, properties, arrow_properties));
    return std::make_unique<ParquetEncoder>(schema, out, std::move(writer));
  }

 private:
  arrow::Compression::type compression_;
  arrow::MemoryPool* pool_;
};

class CsvEncoder : public FileEncoder {
 public:
  CsvEncoder(OutputFile out, std::shared_ptr<arrow::ipc::RecordBatchWriter> writer, bool quotes)
      : out_(std::move(out)), writer_(std::move(writer)), quotes_(quotes) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    const bool has_empty_lines = quotes_ && rows.num_columns() == 1 && rows.column(0)->null_count() > 0;
    arrow::Status written = has_empty_lines ? write_with_nulls(rows) : writer_->WriteRecordBatch(rows);
    if (!written.ok()) ARROW_RETURN_NOT_OK(check_text(rows));
    rows_ += rows.num_rows();
    return written;
  }
  arrow::Status finish() override {
    ARROW_RETURN_NOT_OK(writer_->Close());
    return out_->Close();
  }

 private:
  /// A null of the only column would be an empty line, which readers leave out.
  arrow::Status write_with_nulls(const arrow::RecordBatch& rows) {
    const arrow::Array& column = *rows.column(0);
    for (std::int64_t begin = 0, end = 0; begin < rows.num_rows(); begin = end) {
      const bool is_null = column.IsNull(begin);
      while (end < rows.num_rows() && column.IsNull(end) == is_null) ++end;
      if (!is_null) {
        ARROW_RETURN_NOT_OK(writer_->WriteRecordBatch(*rows.Slice(begin, end - begin)));
        continue;
      }
      std::string lines;
      for (std::int64_t row = begin; row < end; ++row) lines += "\"\"\n";
      ARROW_RETURN_NOT_OK(out_->Write(lines));
    }
    return arrow::Status::OK();
  }

  /// Bytes go to CSV as text, which they need not be.
  arrow::Status check_text(const arrow::RecordBatch& rows) const {
    for (int i = 0; i < rows.num_columns(); ++i) {
      const auto& column = *rows.column(i);
      if (!arrow::is_base_binary_like(column.type_id())) continue;
      for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
        ARROW_ASSIGN_OR_RAISE(const auto value, column.GetScalar(row));
        const auto& bytes = static_cast<const arrow::BaseBinaryScalar&>(*value);
        if (!bytes.is_valid || is_utf8(bytes.view())) continue;
        return arrow::Status::Invalid("CSV has no place for the column ", rows.column_name(i), " of type ",
                                      column.type()->ToString(), ": its bytes are no text (UTF-8) in row ", rows_ + row,
                                      " of a file; drop it, make text of it, or write Parquet");
      }
    }
    return arrow::Status::OK();
  }

  OutputFile out_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
  bool quotes_;
  std::int64_t rows_ = 0;
};

class CsvWriting : public FileWriting {
 public:
  /// `options`: all but the memory.
  CsvWriting(const arrow::csv::WriteOptions& options, arrow::MemoryPool* pool) : options_(options), pool_(pool) {}
  const char* extension() const override { return ".csv"; }

  EncoderResult begin(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) const override {
    for (const auto& field : schema->fields()) {
      const arrow::Type::type id = field->type()->id();
      if (!arrow::is_nested(id) && id != arrow::Type::EXTENSION) continue;
      return arrow::Status::Invalid("CSV has no place for the column ", field->name(), " of type ",
                                    field->type()->ToString(), "; drop it, or write Parquet");
    }
    ARROW_ASSIGN_OR_RAISE(const OutputFile out, arrow::io::FileOutputStream::Open(path));
    arrow::csv::WriteOptions options = options_;
    options.io_context = arrow::io::IOContext(pool_);
    ARROW_ASSIGN_OR_RAISE(auto writer, arrow::csv::MakeCSVWriter(out, schema, options));
    const bool quotes = options.quoting_style != arrow::csv::QuotingStyle::None;
    return std::make_unique<CsvEncoder>(out, std::move(writer), quotes);
  }

 private:
  arrow::csv::WriteOptions options_;
  arrow::MemoryPool* pool_;
};

class OrcEncoder : public FileEncoder {
 public:
  OrcEncoder(std::shared_ptr<arrow::Schema> schema, OutputFile out,
             std::unique_ptr<arrow::adapters::orc::ORCFileWriter> writer)
      : schema_(std::move(schema)), out_(std::move(out)), writer_(std::move(writer)) {}

  arrow::Status write(const arrow::RecordBatch& rows) override {
    has_columns_ = true;
    arrow::Status written = writer_->Write(rows);
    if (!written.ok()) ARROW_RETURN_NOT_OK(check_types(*rows.schema()));
    return written;
  }
  arrow::Status finish() override {
    if (!has_columns_) {
      ARROW_ASSIGN_OR_RAISE(const auto no_rows, arrow::RecordBatch::MakeEmpty(schema_));
      ARROW_RETURN_NOT_OK(write(*no_rows));
    }
    ARROW_RETURN_NOT_OK(writer_->Close());
    return out_->Close();
  }

 private:
  /// Arrow's words name the type alone.
  static arrow::Status check_types(const arrow::Schema& schema) {
    for (const auto& field : schema.fields()) {
      ARROW_ASSIGN_OR_RAISE(const auto nowhere, arrow::io::BufferOutputStream::Create());
      ARROW_ASSIGN_OR_RAISE(auto writer, arrow::adapters::orc::ORCFileWriter::Open(nowhere.get()));
      ARROW_ASSIGN_OR_RAISE(const auto no_rows, arrow::RecordBatch::MakeEmpty(arrow::schema({field})));
      if (writer->Write(*no_rows).ok()) continue;
      return arrow::Status::Invalid("ORC has no place for the column ", field->name(), " of type ",
                                    field->type()->ToString(), "; drop it, or write Parquet");
    }
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Schema> schema_;
  OutputFile out_;
  std::unique_ptr<arrow::adapters::orc::ORCFileWriter> writer_;
  bool has_columns_ = false;  ///< Arrow takes them from the first rows.
};

class OrcWriting : public FileWriting {
 public:
  const char* extension() const override { return ".orc"; }

  EncoderResult begin(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) const override {
    ARROW_ASSIGN_OR_RAISE(const OutputFile out, arrow::io::FileOutputStream::Open(path));
    ARROW_ASSIGN_OR_RAISE(auto writer, arrow::adapters::orc::ORCFileWriter::Open(out.get()));
    return std::make_unique<OrcEncoder>(schema, out, std::move(writer));
  }
};

}  // namespace

WritingResult parquet_writing(const data::WriteNode& node, arrow::MemoryPool* pool) {
  const OptionView options(node.options, node.format);
  ARROW_ASSIGN_OR_RAISE(const std::string name, options.text("compression", "snappy"));
  if (name == "none") return std::make_unique<ParquetWriting>(arrow::Compression::UNCOMPRESSED, pool);
  const auto compression = arrow::util::Codec::GetCompressionType(name);
  const bool known = compression.ok() && parquet::IsCodecSupported(*compression);
  if (!known) return options.misfit("compression", "snappy, zstd, gzip, brotli, lz4 or none");
  return std::make_unique<ParquetWriting>(*compression, pool);
}

WritingResult csv_writing(const data::WriteNode& node, arrow::MemoryPool* pool) {
  const OptionView options(node.options, node.format);
  arrow::csv::WriteOptions written = arrow::csv::WriteOptions::Defaults();
  ARROW_ASSIGN_OR_RAISE(written.include_header, options.flag("header", true));
  ARROW_ASSIGN_OR_RAISE(written.delimiter, options.character("delimiter", ','));
  ARROW_ASSIGN_OR_RAISE(const std::string quoting, options.text("quoting", "needed"));
  if (quoting == "all_valid") {
    written.quoting_style = arrow::csv::QuotingStyle::AllValid;
  } else if (quoting == "none") {
    written.quoting_style = arrow::csv::QuotingStyle::None;
  } else if (quoting != "needed") {
    return options.misfit("quoting", "needed, all_valid or none");
  }
  return std::make_unique<CsvWriting>(written, pool);
}

WritingResult orc_writing(const data::WriteNode&, arrow::MemoryPool*) { return std::make_unique<OrcWriting>(); }

}  // namespace headway::flow
