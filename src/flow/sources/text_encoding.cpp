#include "flow/sources/text_encoding.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <iconv.h>

namespace headway::flow {
namespace {

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char character : name) {
    if (character == '-' || character == '_' || character == ' ') continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  }
  return plain;
}

/// Python's names for encodings that iconv calls otherwise.
std::string iconv_name(const std::string& name) {
  const std::string plain = plain_name(name);
  if (plain == "latin1") return "ISO-8859-1";
  return name;
}

class Converter {
 public:
  explicit Converter(const std::string& name) : handle_(iconv_open("UTF-8", iconv_name(name).c_str())) {}
  ~Converter() {
    if (is_open()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool is_open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }
  iconv_t get() const { return handle_; }

 private:
  iconv_t handle_;
};

}  // namespace

bool is_utf8_encoding(const std::string& name) {
  const std::string plain = plain_name(name);
  return plain == "utf8" || plain == "ascii";
}

bool has_ascii_line_ends(const std::string& name) {
  const std::string plain = plain_name(name);
  return is_utf8_encoding(name) || plain.starts_with("iso8859") || plain.starts_with("latin") ||
         plain.starts_with("cp125") || plain.starts_with("windows125");
}

arrow::Status check_encoding(const std::string& name) {
  if (is_utf8_encoding(name) || Converter(name).is_open()) return arrow::Status::OK();
  return arrow::Status::Invalid("the encoding ", name, " is unknown; allowed are names such as utf-8, latin-1, utf-16");
}

arrow::Status decode(const std::string& name, std::string& bytes, std::string& text) {
  const Converter converter(name);
  char* from = bytes.data();
  std::size_t from_left = bytes.size();
  std::array<char, 16384> buffer{};
  while (from_left > 0) {
    char* to = buffer.data();
    std::size_t to_left = buffer.size();
    const std::size_t done = iconv(converter.get(), &from, &from_left, &to, &to_left);
    text.append(buffer.data(), buffer.size() - to_left);
    if (done != static_cast<std::size_t>(-1) || errno == E2BIG) continue;
    if (errno == EINVAL) break;
    return arrow::Status::Invalid("byte ", bytes.size() - from_left, " of a block is no ", name);
  }
  bytes.erase(0, bytes.size() - from_left);
  return arrow::Status::OK();
}

}  // namespace headway::flow
