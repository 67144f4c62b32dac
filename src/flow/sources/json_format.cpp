#include "core/location.hpp"
#include "flow/expressions/type_names.hpp"
#include "flow/functions/wider_schema.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/inference.hpp"
#include "flow/sources/json_text_rows.hpp"
#include "flow/sources/line_blocks.hpp"
#include "flow/sources/line_ends.hpp"
#include "flow/sources/mixed_numbers.hpp"
#include "flow/sources/read_options.hpp"
#include "flow/sources/samples.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/io/memory.h>
#include <arrow/json/options.h>
#include <arrow/json/reader.h>
#include <arrow/table.h>

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace headway::flow {
namespace {

using TableResult = arrow::Result<std::shared_ptr<arrow::Table>>;
using BufferResult = arrow::Result<std::shared_ptr<arrow::Buffer>>;

constexpr std::int64_t json_look_bytes = std::int64_t{64} << 10;
constexpr std::int32_t json_block = std::int32_t{1} << 20;
constexpr std::int64_t stream_block_bytes = std::int64_t{4} << 20;

BufferResult read_all(arrow::io::InputStream& stream, std::int64_t bytes_max, arrow::MemoryPool* pool) {
  arrow::BufferVector parts;
  std::int64_t bytes = 0;
  while (bytes < bytes_max) {
    ARROW_ASSIGN_OR_RAISE(auto part, stream.Read(std::min<std::int64_t>(bytes_max - bytes, unit_bytes_default)));
    if (part->size() == 0) break;
    bytes += part->size();
    parts.push_back(std::move(part));
  }
  return parts.size() == 1 ? BufferResult(parts.front()) : arrow::ConcatenateBuffers(parts, pool);
}

std::int32_t one_block(std::string_view text) {
  return static_cast<std::int32_t>(std::min<std::size_t>(text.size() + 1, std::size_t{1} << 30));
}

/// The longest row decides how long a block is at least.
std::int32_t block_for(std::string_view text) {
  const std::size_t first = std::min(text.find('\n'), text.size());
  const bool short_rows = first < static_cast<std::size_t>(json_block) / 4;
  return short_rows ? json_block : one_block(text);
}

/// A failure that names a row, counted from where a text begins, of which so many are before it.
arrow::Status with_row_behind(const arrow::Status& status, std::int64_t rows_before) {
  std::string words = status.message();
  constexpr std::string_view mark = "in row ";
  const std::size_t at = words.rfind(mark);
  if (at == std::string::npos) return status;
  std::int64_t row = 0;
  const char* digits = words.data() + at + mark.size();
  const auto [end, failure] = std::from_chars(digits, words.data() + words.size(), row);
  if (failure != std::errc()) return status;
  words.replace(at, static_cast<std::size_t>(end - words.data()) - at, mark.data() + std::to_string(rows_before + row));
  return status.WithMessage(words);
}

/// Arrow says of a row that does not fit the schema that its column "changed from" the schema's
/// type, as if rows before had it.
arrow::Status with_type_of_others(const arrow::Status& status) {
  std::string words = status.message();
  constexpr std::string_view changed = " changed from ";
  constexpr std::string_view to = " to ";
  const std::size_t first = words.find(changed);
  const std::size_t second = first == std::string::npos ? first : words.find(to, first + changed.size());
  if (second == std::string::npos) return status;
  words.replace(second, to.size(), " in other rows, and ");
  words.replace(first, changed.size(), " is ");
  return status.WithMessage(words);
}

class JsonFormat : public FileFormat {
 public:
  using Types = std::map<std::string, std::shared_ptr<arrow::DataType>>;

  JsonFormat(Types types, bool lines, std::int64_t unit_bytes)
      : types_(std::move(types)), lines_(lines), unit_bytes_(unit_bytes) {}

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
      ARROW_ASSIGN_OR_RAISE(schema_, common_schema(*schema_, **seen));
    }
    sample_schema_ = schema_;
    return schema_;
  }

  bool has_samples() const override { return true; }
  std::shared_ptr<arrow::Schema> widen(const arrow::Schema& schema) override {
    return schema_ = wider_schema(schema_, schema);
  }

  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    if (file.bytes < unit_bytes_ + unit_bytes_ / 2 || is_compressed(file.location)) {
      return FileFormat::split(index, file);
    }
    ARROW_ASSIGN_OR_RAISE(const bool lines, has_lines(file, arrow::default_memory_pool()));
    return lines ? byte_ranges(index, 0, file.bytes, unit_bytes_) : FileFormat::split(index, file);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece& piece,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    if (is_compressed(file.location)) {
      if (auto streamed = read_stream(file, columns, pool); !streamed.ok() || *streamed != nullptr) return streamed;
    }
    std::int64_t begin = 0;
    ARROW_ASSIGN_OR_RAISE(const auto text, rows_of(file, piece, &begin, pool));
    auto table = table_of(text, columns, pool);
    if (!table.ok()) return explain(table.status(), file, begin, pool);
    return std::make_shared<arrow::TableBatchReader>(std::move(*table));
  }

 private:
  /// The columns of rows, each with its type.
  TableResult table_of(const std::shared_ptr<arrow::Buffer>& text, const std::vector<int>& columns,
                       arrow::MemoryPool* pool) const {
    arrow::json::ParseOptions parse = arrow::json::ParseOptions::Defaults();
    const bool all = columns.size() == static_cast<std::size_t>(schema_->num_fields());
    parse.unexpected_field_behavior =
        all ? arrow::json::UnexpectedFieldBehavior::InferType : arrow::json::UnexpectedFieldBehavior::Ignore;
    parse.explicit_schema = schema_;
    if (!all && !columns.empty()) {
      arrow::FieldVector chosen;
      for (const int column : columns) chosen.push_back(schema_->field(column));
      parse.explicit_schema = arrow::schema(std::move(chosen));
    }
    auto table = parsed(text, parse, pool);
    if (!table.ok()) return widened(with_type_of_others(table.status()), text, pool);
    if (all) ARROW_RETURN_NOT_OK(check_fields(**table));
    if (schema_ != sample_schema_) {
      ARROW_RETURN_NOT_OK(check_json_integers(std::string_view(*text), columns_to_check(**table, *sample_schema_)));
    }
    return table;
  }

  /// Arrow counts rows from the text's begin; people count lines of the file.
  static arrow::Status explain(const arrow::Status& status, const SourceFile& file, std::int64_t begin,
                               arrow::MemoryPool* pool) {
    if (begin == 0) return status;
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t before, lines_before(*opened, begin));
    return with_row_behind(status, before);
  }

  arrow::Result<bool> has_lines(const SourceFile& file, arrow::MemoryPool* pool) const {
    if (lines_) return true;
    ARROW_ASSIGN_OR_RAISE(const auto stream, open_decompressed(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(const auto head, stream->Read(json_look_bytes));
    return begins_with_json_line(std::string_view(*head));
  }

  BufferResult rows_of(const SourceFile& file, const Piece& piece, std::int64_t* begin, arrow::MemoryPool* pool) const {
    ARROW_ASSIGN_OR_RAISE(const bool lines, has_lines(file, pool));
    if (lines && !is_compressed(file.location)) {
      ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
      ARROW_ASSIGN_OR_RAISE(*begin, row_begin(*opened, piece.begin, std::nullopt));
      return rows_of_range(*opened, piece.begin, std::min(piece.end, file.bytes), std::nullopt);
    }
    ARROW_ASSIGN_OR_RAISE(const auto stream, open_decompressed(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(auto text, read_all(*stream, std::int64_t{1} << 40, pool));
    return lines ? BufferResult(text) : as_json_lines(std::string_view(*text), pool);
  }

  static TableResult parsed(const std::shared_ptr<arrow::Buffer>& text, const arrow::json::ParseOptions& parse,
                            arrow::MemoryPool* pool) {
    const std::string_view rows(*text);
    if (rows.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      return arrow::Table::MakeEmpty(parse.explicit_schema ? parse.explicit_schema : arrow::schema({}), pool);
    }
    TableResult table = in_blocks(text, parse, block_for(rows), pool);
    if (table.ok()) return table;
    // Arrow counts rows within a block: only those of one block are counted from the text's begin.
    return in_blocks(text, parse, one_block(rows), pool);
  }

  static TableResult in_blocks(const std::shared_ptr<arrow::Buffer>& text, const arrow::json::ParseOptions& parse,
                               std::int32_t block_size, arrow::MemoryPool* pool) {
    arrow::json::ReadOptions read = arrow::json::ReadOptions::Defaults();
    read.use_threads = false;
    read.block_size = block_size;
    ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::json::TableReader::Make(
                                                 pool, std::make_shared<arrow::io::BufferReader>(text), read, parse));
    return reader->Read();
  }

  /// Lines of a compressed file, a block at a time. Null: it has no lines.
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read_stream(const SourceFile& file,
                                                                       const std::vector<int>& columns,
                                                                       arrow::MemoryPool* pool) const {
    ARROW_ASSIGN_OR_RAISE(const bool lines, has_lines(file, pool));
    if (!lines) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto stream, open_decompressed(file.location, pool));
    auto parse = [this, columns, pool](const std::shared_ptr<arrow::Buffer>& text, std::int64_t before) -> TableResult {
      TableResult table = table_of(text, columns, pool);
      return table.ok() ? table : with_row_behind(table.status(), before);
    };
    return std::make_shared<TablesOfLines>(schema_, LineBlocks(std::move(stream), stream_block_bytes),
                                           std::move(parse));
  }

  /// The failure, or one that says which wider types the rows need.
  arrow::Status widened(const arrow::Status& failure, const std::shared_ptr<arrow::Buffer>& text,
                        arrow::MemoryPool* pool) const {
    const auto seen = parsed(text, inferring(), pool);
    if (!seen.ok()) return failure;
    auto wider = wider_schema(schema_, *(*seen)->schema());
    return wider->Equals(*schema_) ? failure : schema_widened(failure, std::move(wider));
  }

  /// Types as they come, except those that the user has said.
  arrow::json::ParseOptions inferring() const {
    arrow::json::ParseOptions parse = arrow::json::ParseOptions::Defaults();
    if (types_.empty()) return parse;
    arrow::FieldVector known;
    for (const auto& [name, type] : types_) known.push_back(arrow::field(name, type));
    parse.explicit_schema = arrow::schema(std::move(known));
    return parse;
  }

  arrow::Result<std::shared_ptr<arrow::Schema>> sample(const SourceFile& file, const Piece& piece,
                                                       arrow::MemoryPool* pool) const {
    std::shared_ptr<arrow::Buffer> text;
    std::int64_t begin = 0;
    ARROW_ASSIGN_OR_RAISE(const bool lines, has_lines(file, pool));
    if (lines && is_compressed(file.location)) {
      ARROW_ASSIGN_OR_RAISE(const auto stream, open_decompressed(file.location, pool));
      ARROW_ASSIGN_OR_RAISE(text, read_all(*stream, piece.end - piece.begin, pool));
      const std::size_t last = std::string_view(*text).rfind('\n');
      if (text->size() == piece.end - piece.begin && last != std::string_view::npos) {
        text = arrow::SliceBuffer(text, 0, static_cast<std::int64_t>(last) + 1);
      }
    } else {
      ARROW_ASSIGN_OR_RAISE(text, rows_of(file, piece, &begin, pool));
    }
    const auto table = parsed(text, inferring(), pool);
    if (!table.ok()) return explain(table.status(), file, begin, pool);
    return (*table)->schema();
  }

  /// Errors for a field that the schema lacks, naming the first row that has it.
  arrow::Status check_fields(const arrow::Table& table) const {
    for (const auto& field : table.schema()->fields()) {
      if (schema_->GetFieldIndex(field->name()) >= 0) continue;
      std::int64_t row = 0;
      for (const auto& chunk : table.GetColumnByName(field->name())->chunks()) {
        for (std::int64_t i = 0; i < chunk->length() && chunk->IsNull(i); ++i) ++row;
        if (chunk->null_count() < chunk->length()) break;
      }
      return arrow::Status::Invalid("it has the additional column ", field->name(), " in row ", row,
                                    "; the columns are those of a sample: column_types adds more");
    }
    return arrow::Status::OK();
  }

  Types types_;
  bool lines_;
  std::int64_t unit_bytes_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::Schema> sample_schema_;  ///< Before it was widened.
};

}  // namespace

FormatResult json_format(const data::ReadNode& read) {
  const OptionView options(read.options, read.format);
  ARROW_ASSIGN_OR_RAISE(const OptionView given, options.object("column_types"));
  JsonFormat::Types types;
  for (const auto& [name, type] : given.all()) {
    if (!type.is_string()) return options.misfit("column_types", "an object of type names");
    ARROW_ASSIGN_OR_RAISE(types[std::string(name)], type_of_name(type.get_string()));
  }
  ARROW_ASSIGN_OR_RAISE(const bool lines, options.flag("lines", false));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t unit_bytes, unit_bytes_of(read));
  return std::make_unique<JsonFormat>(std::move(types), lines, unit_bytes);
}

}  // namespace headway::flow
