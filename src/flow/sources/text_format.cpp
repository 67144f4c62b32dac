#include "core/text.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/line_ends.hpp"
#include "flow/sources/read_options.hpp"
#include "flow/sources/text_encoding.hpp"

#include <arrow/array/builder_binary.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace headway::flow {
namespace {

constexpr std::int64_t text_block = std::int64_t{4} << 20;

struct TextOptions {
  std::string encoding;
  bool drop_empty_lines = true;
};

bool is_empty_line(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c) != 0; });
}

/// Rows of text that comes in blocks. The last line of a block waits for the next one.
class LineReader : public arrow::RecordBatchReader {
 public:
  LineReader(std::shared_ptr<arrow::io::InputStream> stream, const TextOptions& options,
             std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : stream_(std::move(stream)), options_(options), schema_(std::move(schema)), pool_(pool) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    *out = nullptr;
    while (!ended_) {
      ARROW_ASSIGN_OR_RAISE(const auto block, stream_->Read(text_block));
      ended_ = block->size() == 0;
      if (!ended_) ARROW_RETURN_NOT_OK(add_block(std::string_view(*block)));
      const std::size_t end = ended_ ? rest_.size() : rest_.rfind('\n') + 1;
      if (end == 0) continue;
      ARROW_ASSIGN_OR_RAISE(*out, batch_of(std::string_view(rest_).substr(0, end)));
      rest_.erase(0, end);
      return arrow::Status::OK();
    }
    return arrow::Status::OK();
  }

 private:
  arrow::Status add_block(std::string_view block) {
    if (is_utf8_encoding(options_.encoding)) {
      rest_ += block;
      return arrow::Status::OK();
    }
    undecoded_ += block;
    return decode(options_.encoding, undecoded_, rest_);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> batch_of(std::string_view text) {
    arrow::StringBuilder builder(pool_);
    ARROW_RETURN_NOT_OK(builder.ReserveData(static_cast<std::int64_t>(text.size())));
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      if (!is_utf8(line)) {
        return arrow::Status::Invalid("line ", lines_ + 1, " is no UTF-8; the option encoding says what it is");
      }
      ++lines_;
      if (!options_.drop_empty_lines || !is_empty_line(line)) ARROW_RETURN_NOT_OK(builder.Append(line));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    ARROW_ASSIGN_OR_RAISE(auto values, builder.Finish());
    return arrow::RecordBatch::Make(schema_, values->length(), {values});
  }

  std::shared_ptr<arrow::io::InputStream> stream_;
  const TextOptions& options_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* pool_;
  std::string undecoded_;
  std::string rest_;
  std::int64_t lines_ = 0;
  bool ended_ = false;
};

class TextFormat : public FileFormat {
 public:
  TextFormat(TextOptions options, std::int64_t unit_bytes) : options_(std::move(options)), unit_bytes_(unit_bytes) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>&, arrow::MemoryPool*) override {
    return schema_;
  }

  bool has_checked_text() const override { return true; }

  arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const override {
    if (is_compressed(file.location) || !has_ascii_line_ends(options_.encoding)) return FileFormat::split(index, file);
    return byte_ranges(index, 0, file.bytes, unit_bytes_);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece& piece,
                                                                const std::vector<int>&,
                                                                arrow::MemoryPool* pool) const override {
    if (piece.begin == 0 && piece.end >= file.bytes) {
      ARROW_ASSIGN_OR_RAISE(auto stream, open_decompressed(file.location, pool));
      return std::make_shared<LineReader>(std::move(stream), options_, schema_, pool);
    }
    ARROW_ASSIGN_OR_RAISE(const auto opened, open_file(file.location, pool));
    ARROW_ASSIGN_OR_RAISE(auto text, rows_of_range(*opened, piece.begin, piece.end, std::nullopt));
    auto stream = std::make_shared<arrow::io::BufferReader>(std::move(text));
    return std::make_shared<LineReader>(std::move(stream), options_, schema_, pool);
  }

 private:
  TextOptions options_;
  std::int64_t unit_bytes_;
  std::shared_ptr<arrow::Schema> schema_ = arrow::schema({arrow::field("text", arrow::utf8())});
};

}  // namespace

FormatResult text_format(const data::ReadNode& read) {
  const OptionView options(read.options, read.format);
  TextOptions text;
  ARROW_ASSIGN_OR_RAISE(text.encoding, options.text("encoding", "utf-8"));
  ARROW_ASSIGN_OR_RAISE(text.drop_empty_lines, options.flag("drop_empty_lines", true));
  ARROW_RETURN_NOT_OK(check_encoding(text.encoding));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t unit_bytes, unit_bytes_of(read));
  return std::make_unique<TextFormat>(std::move(text), unit_bytes);
}

}  // namespace headway::flow
