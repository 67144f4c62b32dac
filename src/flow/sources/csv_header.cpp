#include "flow/sources/csv_header.hpp"

#include "flow/sources/text_encoding.hpp"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <set>
#include <string_view>

namespace headway::flow {
namespace {

constexpr std::int64_t look_bytes = std::int64_t{64} << 10;
constexpr std::size_t head_bytes_max = std::size_t{64} << 20;

/// The begin of a file, as much of it as is asked for.
class Head {
 public:
  explicit Head(arrow::io::InputStream& file) : file_(file) {}

  std::string_view text() const { return text_; }
  bool ended() const { return ended_; }

  arrow::Status more() {
    ARROW_ASSIGN_OR_RAISE(const auto buffer, file_.Read(look_bytes));
    if (buffer->size() < look_bytes) ended_ = buffer->size() == 0;
    text_ += std::string_view(*buffer);
    if (text_.size() > head_bytes_max) return arrow::Status::Invalid("its first row has no end within 64 MiB");
    return arrow::Status::OK();
  }

 private:
  arrow::io::InputStream& file_;
  std::string text_;
  bool ended_ = false;
};

/// The values of the row that begins at `at`, which moves behind it. False: it does not end here.
bool take_row(std::string_view text, bool last, const arrow::csv::ParseOptions& parse, std::size_t& at,
              std::vector<std::string>& values) {
  values.assign(1, "");
  bool inside = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char character = text[i];
    if (parse.escaping && character == parse.escape_char && i + 1 < text.size()) {
      values.back() += text[++i];
    } else if (parse.quoting && character == parse.quote_char && (inside || values.back().empty())) {
      const bool doubled = inside && parse.double_quote && i + 1 < text.size() && text[i + 1] == parse.quote_char;
      if (doubled)
        values.back() += text[++i];
      else
        inside = !inside;
    } else if (!inside && character == parse.delimiter) {
      values.emplace_back();
    } else if (!inside && (character == '\n' || character == '\r')) {
      if (character == '\r' && i + 1 == text.size() && !last) return false;
      at = i + 1 + (character == '\r' && i + 1 < text.size() && text[i + 1] == '\n' ? 1 : 0);
      return true;
    } else {
      values.back() += character;
    }
  }
  at = text.size();
  return last;
}

/// Rows from the file's begin on.
class RowReader {
 public:
  RowReader(arrow::io::InputStream& file, const arrow::csv::ParseOptions& parse) : head_(file), parse_(parse) {}

  /// The next row; nothing at the file's end.
  arrow::Result<bool> next(std::vector<std::string>& values) {
    if (head_.text().empty()) {
      ARROW_RETURN_NOT_OK(head_.more());
      if (head_.text().starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    }
    std::size_t after = at_;
    while (!take_row(head_.text(), head_.ended(), parse_, after, values)) {
      ARROW_RETURN_NOT_OK(head_.more());
      after = at_;
    }
    const bool found = after > at_;
    is_blank_ = head_.text().substr(at_, after - at_).find_first_not_of("\r\n") == std::string_view::npos;
    at_ = after;
    return found;
  }

  /// Whether the last row had no characters.
  bool is_blank() const { return is_blank_; }

  std::int64_t at() const { return static_cast<std::int64_t>(at_); }

 private:
  Head head_;
  const arrow::csv::ParseOptions& parse_;
  std::size_t at_ = 0;
  bool is_blank_ = false;
};

arrow::Status check_names(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return arrow::Status::Invalid("its header names the column ", name, " twice");
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<CsvHeader> read_csv_header(arrow::io::InputStream& file, const arrow::csv::ReadOptions& read,
                                         const arrow::csv::ParseOptions& parse) {
  RowReader rows(file, parse);
  std::vector<std::string> row;
  for (int i = 0; i < read.skip_rows; ++i) ARROW_RETURN_NOT_OK(rows.next(row).status());
  CsvHeader header{.names = read.column_names, .rows_begin = rows.at()};
  if (!header.names.empty()) return header;
  bool found = true;
  do {
    header.rows_begin = rows.at();
    ARROW_ASSIGN_OR_RAISE(found, rows.next(row));
  } while (found && rows.is_blank());
  if (!found) return arrow::Status::Invalid("it has no row with the names of columns");
  if (read.autogenerate_column_names) {
    for (std::size_t i = 0; i < row.size(); ++i) header.names.push_back("f" + std::to_string(i));
    return header;
  }
  header.names = row;
  for (int i = 0; i < read.skip_rows_after_names; ++i) ARROW_RETURN_NOT_OK(rows.next(row).status());
  header.rows_begin = rows.at();
  ARROW_RETURN_NOT_OK(check_names(header.names));
  return header;
}

}  // namespace headway::flow
