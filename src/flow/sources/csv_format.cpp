#include "flow/functions/wider_schema.hpp"
#include "flow/sources/csv_header.hpp"
#include "flow/sources/csv_options.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/inference.hpp"
#include "flow/sources/line_blocks.hpp"
#include "flow/sources/line_ends.hpp"
#include "flow/sources/mixed_numbers.hpp"
#include "flow/sources/samples.hpp"

#include "core/location.hpp"

#include <arrow/buffer.h>
#include <arrow/csv/reader.h>
#include <arrow/io/interfaces.h>
#include <arrow/io/memory.h>
#include <arrow/table.h>

#include <algorithm>
#include <charconv>

namespace headway::flow {
namespace {

namespace csv = arrow::csv;
using ReaderResult = arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>;

constexpr std::int32_t stream_block = std::int32_t{4} << 20;
constexpr std::int64_t stream_sample = std::int64_t{1} << 20;

/// How many line ends were skipped.
arrow::Result<std::int64_t> skip(arrow::io::InputStream& stream, std::int64_t bytes) {
  std::int64_t lines = 0;
  while (bytes > 0) {
    ARROW_ASSIGN_OR_RAISE(const auto buffer, stream.Read(std::min<std::int64_t>(bytes, stream_block)));
    if (buffer->size() == 0) break;
    bytes -= buffer->size();
    const std::string_view text(*buffer);
    lines += std::ranges::count(text, '\n');
  }
  return lines;
}

/// Arrow's "In CSV column #1: Row #7: ..." with the column's name and the row's number in the file.
std::string explained(const std::string& words, const std::vector<std::string>& names, std::int64_t rows_before) {
  std::string text = words;
  constexpr std::string_view column_mark = "In CSV column #";
  constexpr std::string_view row_mark = "Row #";
  const auto replace_number = [&](std::string_view mark, const auto& words_for) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return;
    std::int64_t number = 0;
    const char* digits = text.data() + at + mark.size();
    const auto [end, failure] = std::from_chars(digits, text.data() + text.size(), number);
    if (failure == std::errc()) text.replace(at, static_cast<std::size_t>(end - text.data()) - at, words_for(number));
  };
  replace_number(column_mark, [&](std::int64_t number) {
    const auto index = static_cast<std::size_t>(number);
    return "column " + (index < names.size() ? names[index] : std::to_string(number));
  });
  replace_number(row_mark, [&](std::int64_t number) { return "line " + std::to_string(rows_before + number); });
  return text;
}

class CsvFormat : public FileFormat {
 public:
  CsvFormat(CsvOptions options, std::int64_t unit_bytes) : options_(std::move(options)), unit_bytes_(unit_bytes) {
    const csv::ParseOptions& parse = options_.parse;
    if (!parse.quoting && !parse.escaping) return;
    quoting_.emplace();
    quoting_->quote = parse.quoting ? parse.quote_char : parse.escape_char;
    quoting_->delimiter = parse.delimiter;
    if (parse.escaping) quoting_->escape = parse.escape_char;
  }

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool* pool) override {
    for (const Piece& piece : sample_pieces(files)) {
      const SourceFile& file = files[piece.file];
      auto seen = sample(file, piece, pool);
      if (!seen.ok()) return seen.status().WithMessage(shown_location(file.location), ": ", seen.status().message());
      if (schema_ == nullptr) {
        schema_ = std::move(*seen);
        continue;
      }
      ARROW_RETURN_NOT_OK(check_names((*seen)->field_names(), file.location + ": "));
      ARROW_ASSIGN_OR_RAISE(schema_, common_schema(*schema_, **seen));
    }
    sample_schema_ = schema_;
    return schema_;
  }

  bool has_samples() const override { return true; }
  /// By the option check_utf8.
  bool has_checked_text() const override { return true; }
  std::shared_ptr<arrow::Schema> widen(const arrow::Schema& schema) override {
    return schema_ = wider_schema(schema_, schema);
  }

  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    if (is_whole(file)) return FileFormat::split(index, file);
    return byte_ranges(index, 0, file.bytes, unit_bytes_);
  }

  ReaderResult read(const SourceFile& file, const Piece& piece, const std::vector<int>& columns,
                    arrow::MemoryPool* pool) const override {
    csv::ConvertOptions convert = options_.convert;
    for (const auto& field : schema_->fields()) convert.column_types[field->name()] = field->type();
    for (const int column : columns) convert.include_columns.push_back(schema_->field(column)->name());
    if (is_whole(file)) return read_stream(file, convert, pool);
    ARROW_ASSIGN_OR_RAISE(const Rows rows, rows_of(file, piece, pool));
    ARROW_RETURN_NOT_OK(check_names(rows.names, ""));
    ARROW_RETURN_NOT_OK(check_end(file, piece, *rows.text));
    auto table = checked(rows, convert, pool);
    if (!table.ok()) return explain(table.status(), file, rows, pool);
    return std::make_shared<arrow::TableBatchReader>(std::move(*table));
  }

 private:
  struct Rows {
    std::vector<std::string> names;
    std::shared_ptr<arrow::Buffer> text;
    std::int64_t begin = 0;
  };

  /// A file that is read from its begin to its end.
  bool is_whole(const SourceFile& file) const {
    return is_compressed(file.location) || options_.parse.newlines_in_values || options_.parse.escaping;
  }

  arrow::Result<Rows> rows_of(const SourceFile& file, const Piece& piece, arrow::MemoryPool* pool) const {
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(CsvHeader header, read_csv_header(*opened, options_.read, options_.parse));
    Rows rows{.names = std::move(header.names), .text = {}, .begin = 0};
    const std::int64_t end = std::min(piece.end, file.bytes);
    if (end <= header.rows_begin) {
      rows.text = std::make_shared<arrow::Buffer>("");
      return rows;
    }
    rows.begin = header.rows_begin;
    if (piece.begin > header.rows_begin) {
      ARROW_ASSIGN_OR_RAISE(rows.begin, row_begin(*opened, piece.begin, quoting_));
    }
    ARROW_ASSIGN_OR_RAISE(const std::int64_t rows_end, row_begin(*opened, end, quoting_));
    ARROW_ASSIGN_OR_RAISE(rows.text, opened->ReadAt(rows.begin, std::max<std::int64_t>(rows_end - rows.begin, 0)));
    return rows;
  }

  arrow::Status check_end(const SourceFile& file, const Piece& piece, const arrow::Buffer& text) const {
    if (!quoting_ || piece.end >= file.bytes || is_row_end(std::string_view(text), *quoting_))
      return arrow::Status::OK();
    return arrow::Status::Invalid("bytes ", piece.begin, " to ", piece.end,
                                  " end within a quoted value: cannot tell "
                                  "quotes that open from quotes that close; with newlines_in_values "
                                  "each file is read from its begin");
  }

  arrow::Result<std::shared_ptr<arrow::Table>> parsed(const Rows& rows, const csv::ConvertOptions& convert,
                                                      arrow::MemoryPool* pool) const {
    csv::ReadOptions read = csv::ReadOptions::Defaults();
    read.use_threads = false;
    read.column_names = rows.names;
    csv::ParseOptions parse = options_.parse;
    const std::string_view text(*rows.text);
    // Blocks end at line ends; only where these may be within a value must all be one block.
    const auto has = [text](char character) { return text.find(character) != std::string_view::npos; };
    if (quoting_ && (has(quoting_->quote) || (quoting_->escape && has(*quoting_->escape)))) {
      read.block_size = static_cast<std::int32_t>(std::min<std::size_t>(text.size() + 1, std::size_t{1} << 30));
      parse.newlines_in_values = text.back() != '\n';
    }
    if (text.empty()) return arrow::Table::MakeEmpty(schema_ == nullptr ? nulls(rows.names) : schema_, pool);
    ARROW_ASSIGN_OR_RAISE(
        const auto reader,
        csv::TableReader::Make(arrow::io::IOContext(pool), std::make_shared<arrow::io::BufferReader>(rows.text), read,
                               parse, convert));
    return reader->Read();
  }

  /// As `parsed`, for what is read after samples.
  arrow::Result<std::shared_ptr<arrow::Table>> checked(const Rows& rows, const csv::ConvertOptions& convert,
                                                       arrow::MemoryPool* pool) const {
    auto table = parsed(rows, convert, pool);
    if (!table.ok()) return widened(table.status(), rows, pool);
    if (schema_ != sample_schema_) ARROW_RETURN_NOT_OK(check_integers(**table, rows, pool));
    return table;
  }

  /// The failure, or one that says which wider types the rows need.
  arrow::Status widened(const arrow::Status& failure, const Rows& rows, arrow::MemoryPool* pool) const {
    const auto seen = parsed(rows, options_.convert, pool);
    if (!seen.ok()) return failure;
    auto wider = wider_schema(schema_, *(*seen)->schema());
    return wider->Equals(*schema_) ? failure : schema_widened(failure, std::move(wider));
  }

  /// Errors for integers that a column of fractions lacks.
  arrow::Status check_integers(const arrow::Table& table, const Rows& rows, arrow::MemoryPool* pool) const {
    csv::ConvertOptions texts = csv::ConvertOptions::Defaults();
    texts.include_columns = columns_to_check(table, *sample_schema_);
    for (const std::string& name : texts.include_columns) texts.column_types[name] = arrow::utf8();
    if (texts.include_columns.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto read, parsed(rows, texts, pool));
    return check_text_integers(*read);
  }

  static std::shared_ptr<arrow::Schema> nulls(const std::vector<std::string>& names) {
    arrow::FieldVector fields;
    for (const std::string& name : names) fields.push_back(arrow::field(name, arrow::null()));
    return arrow::schema(std::move(fields));
  }

  arrow::Result<std::shared_ptr<arrow::Schema>> sample(const SourceFile& file, const Piece& piece,
                                                       arrow::MemoryPool* pool) const {
    Rows rows;
    if (!is_whole(file)) {
      ARROW_ASSIGN_OR_RAISE(rows, rows_of(file, piece, pool));
    } else {
      ARROW_ASSIGN_OR_RAISE(const auto head, open_decompressed(file.location, pool));
      ARROW_ASSIGN_OR_RAISE(CsvHeader header, read_csv_header(*head, options_.read, options_.parse));
      ARROW_ASSIGN_OR_RAISE(const auto stream, open_decompressed(file.location, pool));
      ARROW_RETURN_NOT_OK(skip(*stream, header.rows_begin).status());
      ARROW_ASSIGN_OR_RAISE(auto text, stream->Read(stream_sample));
      const bool more = text->size() == stream_sample;
      const auto whole = static_cast<std::int64_t>(whole_rows(std::string_view(*text), quoting_));
      if (more && whole > 0) text = arrow::SliceBuffer(text, 0, whole);
      rows = {.names = std::move(header.names), .text = std::move(text), .begin = header.rows_begin};
    }
    const auto table = parsed(rows, options_.convert, pool);
    if (!table.ok()) return explain(table.status(), file, rows, pool);
    return (*table)->schema();
  }

  ReaderResult read_stream(const SourceFile& file, const csv::ConvertOptions& convert, arrow::MemoryPool* pool) const {
    ARROW_ASSIGN_OR_RAISE(const auto head, open_decompressed(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(CsvHeader header, read_csv_header(*head, options_.read, options_.parse));
    ARROW_RETURN_NOT_OK(check_names(header.names, ""));
    ARROW_ASSIGN_OR_RAISE(auto stream, open_decompressed(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t header_lines, skip(*stream, header.rows_begin));
    auto parse = [this, names = std::move(header.names), header_lines, convert, pool](
                     const std::shared_ptr<arrow::Buffer>& text,
                     std::int64_t before) -> arrow::Result<std::shared_ptr<arrow::Table>> {
      auto table = checked({.names = names, .text = text}, convert, pool);
      if (table.ok()) return table;
      return table.status().WithMessage(in_words(table.status(), names, header_lines + before));
    };
    LineBlocks blocks(std::move(stream), stream_block, quoting_);
    return std::make_shared<TablesOfLines>(schema_, std::move(blocks), std::move(parse));
  }

  /// Errors for names of a file that are not those of the data set.
  arrow::Status check_names(const std::vector<std::string>& names, const std::string& file) const {
    for (const auto& field : schema_->fields()) {
      if (std::find(names.begin(), names.end(), field->name()) != names.end()) continue;
      return arrow::Status::Invalid(file, "the column ", field->name(), " is missing");
    }
    for (const std::string& name : names) {
      if (schema_->GetFieldIndex(name) >= 0) continue;
      return arrow::Status::Invalid(file, "it has the additional column ", name,
                                    "; the columns are those of the first file");
    }
    return arrow::Status::OK();
  }

  arrow::Status explain(const arrow::Status& status, const SourceFile& file, const Rows& rows,
                        arrow::MemoryPool* pool) const {
    std::int64_t before = 0;
    if (rows.begin > 0 && !is_whole(file)) {
      ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
      ARROW_ASSIGN_OR_RAISE(before, lines_before(*opened, rows.begin));
    }
    return status.WithMessage(in_words(status, rows.names, before));
  }

  static std::string in_words(const arrow::Status& status, const std::vector<std::string>& names,
                              std::int64_t lines_before) {
    std::string words = explained(status.message(), names, lines_before);
    if (words.find("conversion error") != std::string::npos) {
      words += "; the type is that of a sample: column_types sets it";
    }
    return words;
  }

  CsvOptions options_;
  std::int64_t unit_bytes_;
  std::optional<Quoting> quoting_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::Schema> sample_schema_;  ///< Before it was widened.
};

}  // namespace

FormatResult csv_format(const data::ReadNode& read) {
  ARROW_ASSIGN_OR_RAISE(CsvOptions options, csv_options(read));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t unit_bytes, unit_bytes_of(read));
  return std::make_unique<CsvFormat>(std::move(options), unit_bytes);
}

}  // namespace headway::flow
