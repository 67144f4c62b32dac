#include "flow/sources/line_ends.hpp"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <algorithm>
#include <cstring>

namespace headway::flow {
namespace {

constexpr std::int64_t first_look = std::int64_t{64} << 10;
constexpr std::int64_t before_bytes = 64;
constexpr std::int64_t next_look = std::int64_t{1} << 20;

bool ends_value(char character, const Quoting& quoting) {
  return character == quoting.delimiter || character == '\n' || character == '\r';
}

/// Whether a value's quotes are open at `text[1]`; `text[0]` is the byte before.
bool is_inside(std::string_view text, const Quoting& quoting) {
  bool odd = false;  // Whether quotes that mean anything have been passed an odd number of times.
  std::size_t at = text.find(quoting.quote, 1);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_not_of(quoting.quote, at), text.size());
    if ((end - at) % 2 == 1 && end < text.size()) {
      const bool after_end = ends_value(text[at - 1], quoting);
      const bool before_end = ends_value(text[end], quoting);
      if (after_end && !before_end) return odd;
      if (before_end && !after_end) return !odd;
      odd = !odd;
    }
    at = text.find(quoting.quote, end);
  }
  return false;
}

/// Whether a value's quotes are open at `text[at]`; `at` is not 0.
bool is_inside_at(std::string_view text, std::size_t at, const Quoting& quoting) {
  std::size_t anchor = at - 1;
  while (anchor > 0 && text[anchor] == quoting.quote) --anchor;
  const std::size_t quotes = at - 1 - anchor;
  return is_inside(text.substr(anchor), quoting) != (quotes % 2 == 1);
}

/// Where the first row begins after a line end in `text`; npos when there is none.
std::size_t after_line_end(std::string_view text, std::size_t from, bool inside,
                           const std::optional<Quoting>& quoting) {
  if (!quoting) {
    const std::size_t end = text.find('\n', from);
    return end == std::string_view::npos ? end : end + 1;
  }
  for (std::size_t at = from; at < text.size(); ++at) {
    if (text[at] == quoting->quote)
      inside = !inside;
    else if (text[at] == '\n' && !inside)
      return at + 1;
  }
  return std::string_view::npos;
}

/// Whether a text is within a value that goes on, character by character.
class ValuePlace {
 public:
  /// Whether the character ends a row.
  bool go_on(char character, const Quoting& quoting) {
    const bool quote = character == quoting.quote;
    if (is_escaped_ || quoting.escape == character) {
      is_escaped_ = !is_escaped_;
      if (place_ != Place::quoted) place_ = Place::bare;
      return false;
    }
    if (place_ == Place::quoted)
      place_ = quote ? Place::after_quote : Place::quoted;
    else if (quote && place_ != Place::bare)
      place_ = Place::quoted;
    else
      place_ = ends_value(character, quoting) ? Place::value_begin : Place::bare;
    return character == '\n' && place_ != Place::quoted;
  }
  bool is_in_value() const { return is_escaped_ || place_ == Place::quoted; }

 private:
  /// Quotes within a value that has none around it mean nothing.
  enum class Place { value_begin, bare, quoted, after_quote };
  Place place_ = Place::value_begin;
  bool is_escaped_ = false;
};

}  // namespace

arrow::Result<std::int64_t> row_begin(arrow::io::RandomAccessFile& file, std::int64_t position,
                                      const std::optional<Quoting>& quoting) {
  if (position <= 0) return 0;
  ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file.GetSize());
  if (position > size) {
    return arrow::Status::Invalid("it has become shorter while it was read: it has ", size, " bytes, and had at least ",
                                  position);
  }
  // From some bytes before: a row that begins at `position` itself has a line end there, and two
  // quotes that stand for one must not be taken apart.
  const std::int64_t before = std::min(position, before_bytes);
  const std::int64_t from = position - before;
  for (std::int64_t look = first_look; position < size; look = look * 4 + next_look) {
    const std::int64_t bytes = std::min(look, size - from);
    ARROW_ASSIGN_OR_RAISE(const auto buffer, file.ReadAt(from, bytes));
    const std::string_view text(*buffer);
    const auto at = static_cast<std::size_t>(before);
    const bool inside = quoting && is_inside_at(text, at, *quoting);
    const bool at_line_end = !inside && text[at - 1] == '\n';
    const std::size_t found = at_line_end ? at : after_line_end(text, at, inside, quoting);
    if (found != std::string_view::npos) return from + static_cast<std::int64_t>(found);
    if (from + bytes == size) break;
  }
  return size;
}

bool is_row_end(std::string_view text, const Quoting& quoting) {
  const bool has_escapes = quoting.escape && text.find(*quoting.escape) != std::string_view::npos;
  if (!has_escapes && std::count(text.begin(), text.end(), quoting.quote) % 2 == 0) return true;
  ValuePlace place;
  for (const char character : text) place.go_on(character, quoting);
  return !place.is_in_value();
}

std::size_t whole_rows(std::string_view text, const std::optional<Quoting>& quoting) {
  const std::size_t last = text.rfind('\n') + 1;  // npos + 1 is 0.
  if (!quoting || is_row_end(text.substr(0, last), *quoting)) return last;
  std::size_t size = 0;
  ValuePlace place;
  for (std::size_t i = 0; i < last; ++i) {
    if (place.go_on(text[i], *quoting)) size = i + 1;
  }
  return size;
}

arrow::Result<std::int64_t> lines_before(arrow::io::RandomAccessFile& file, std::int64_t position) {
  std::int64_t lines = 0;
  for (std::int64_t at = 0; at < position; at += next_look) {
    ARROW_ASSIGN_OR_RAISE(const auto buffer, file.ReadAt(at, std::min(next_look, position - at)));
    const std::string_view text(*buffer);
    lines += std::count(text.begin(), text.end(), '\n');
  }
  return lines;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> rows_of_range(arrow::io::RandomAccessFile& file, std::int64_t begin,
                                                            std::int64_t end, const std::optional<Quoting>& quoting) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t first, row_begin(file, begin, quoting));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t last, row_begin(file, end, quoting));
  return file.ReadAt(first, std::max<std::int64_t>(last - first, 0));
}

}  // namespace headway::flow
