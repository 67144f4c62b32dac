#include "flow/sources/json_text_rows.hpp"

#include "flow/sources/text_encoding.hpp"

#include <arrow/buffer.h>

#include <string>

namespace headway::flow {
namespace {

/// Where a character stands: how deep in objects and lists, and whether in a string.
class JsonPlace {
 public:
  void pass(char character) {
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (character == '\\')
        escaped_ = true;
      else
        in_string_ = character != '"';
    } else if (character == '"') {
      in_string_ = true;
    } else if (character == '{' || character == '[') {
      ++depth_;
    } else if (character == '}' || character == ']') {
      --depth_;
    }
  }
  bool in_string() const { return in_string_; }
  int depth() const { return depth_; }

 private:
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

bool is_blank(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

std::string_view without_mark(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

}  // namespace

bool begins_with_json_line(std::string_view text) {
  text = without_mark(text);
  if (text.empty()) return true;
  if (text.front() != '{') return false;
  JsonPlace place;
  for (const char character : text) {
    place.pass(character);
    if (place.depth() == 0) return true;
    if (character == '\n' && !place.in_string()) return false;
  }
  // The first object is longer than what was looked at, without a line end in it.
  return true;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> as_json_lines(std::string_view text, arrow::MemoryPool* pool) {
  text = without_mark(text);
  const bool list = text.starts_with('[');
  // Each object may need a line end where the text has nothing between two.
  ARROW_ASSIGN_OR_RAISE(auto buffer,
                        arrow::AllocateResizableBuffer(static_cast<std::int64_t>(2 * text.size() + 1), pool));
  char* out = reinterpret_cast<char*>(buffer->mutable_data());
  char* const begin = out;
  const int base = list ? 1 : 0;
  JsonPlace place;
  for (const char character : text) {
    const bool was_string = place.in_string();
    const int was_depth = place.depth();
    place.pass(character);
    if (was_string || place.in_string() || place.depth() > base) {
      *out++ = character == '\n' || character == '\r' ? ' ' : character;
    } else if (was_depth > base) {
      *out++ = character;
      *out++ = '\n';
    } else if (!list || (character != '[' && character != ']' && character != ',')) {
      // What is between objects: blanks vanish, and anything else is an error that the parser sees.
      if (!is_blank(character)) *out++ = character;
    }
  }
  if (list && (place.depth() > 0 || place.in_string())) return arrow::Status::Invalid("the list of rows ends early");
  ARROW_RETURN_NOT_OK(buffer->Resize(out - begin));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

}  // namespace headway::flow
