#include "flow/sources/tar_files.hpp"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace headway::flow {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::size_t name_bytes = 100;
constexpr std::size_t prefix_bytes = 155;

/// Places of a header's fields.
constexpr std::size_t size_at = 124;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t type_at = 156;
constexpr std::size_t magic_at = 257;
constexpr std::size_t prefix_at = 345;

std::string text_at(std::string_view block, std::size_t at, std::size_t length) {
  const std::string_view field = block.substr(at, length);
  return std::string(field.substr(0, std::min(field.find('\0'), field.size())));
}

std::int64_t number_at(std::string_view block, std::size_t at, std::size_t length) {
  const auto first = static_cast<unsigned char>(block[at]);
  std::int64_t value = 0;
  // Large numbers are binary (GNU).
  if ((first & 128U) != 0) {
    value = first & 127U;
    for (std::size_t i = 1; i < length; ++i) value = value << 8 | static_cast<unsigned char>(block[at + i]);
    return value;
  }
  for (std::size_t i = at; i < at + length; ++i) {
    if (block[i] >= '0' && block[i] <= '7')
      value = value * 8 + (block[i] - '0');
    else if (value > 0 || block[i] == '\0')
      break;
  }
  return value;
}

std::int64_t checksum_of(std::string_view block) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < block_bytes; ++i) {
    const bool within = i >= checksum_at && i < checksum_at + 8;
    sum += within ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

/// The `path` of an extended header: lines of "LENGTH KEY=VALUE".
std::string path_of(std::string_view records) {
  std::string path;
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, failure] = std::from_chars(records.data(), records.data() + records.size(), length);
    if (failure != std::errc() || length == 0 || length > records.size()) break;
    const std::string_view line = records.substr(0, length - 1);
    const std::size_t key = line.find(" path=");
    if (key != std::string_view::npos) path = std::string(line.substr(key + 6));
    records.remove_prefix(length);
  }
  return path;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Buffer>> TarReader::content(std::int64_t bytes) {
  const std::int64_t blocks =
      (bytes + static_cast<std::int64_t>(block_bytes) - 1) / static_cast<std::int64_t>(block_bytes);
  const std::int64_t padded = blocks * static_cast<std::int64_t>(block_bytes);
  ARROW_ASSIGN_OR_RAISE(const auto buffer, stream_->Read(padded));
  if (buffer->size() < padded) return arrow::Status::Invalid("the archive ends early");
  return arrow::SliceBuffer(buffer, 0, bytes);
}

arrow::Result<std::optional<TarFile>> TarReader::next() {
  std::string long_name;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto header, stream_->Read(static_cast<std::int64_t>(block_bytes)));
    if (header->size() == 0) return std::nullopt;
    if (header->size() < static_cast<std::int64_t>(block_bytes))
      return arrow::Status::Invalid("the archive ends early");
    const std::string_view block(*header);
    if (block.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;
    if (number_at(block, checksum_at, 8) != checksum_of(block))
      return arrow::Status::Invalid("it is no tar archive, or a broken one");
    ARROW_ASSIGN_OR_RAISE(auto bytes, content(number_at(block, size_at, 12)));
    const char type = block[type_at];
    if (type == 'L') {
      long_name = text_at(std::string_view(*bytes), 0, static_cast<std::size_t>(bytes->size()));
    } else if (type == 'x') {
      long_name = path_of(std::string_view(*bytes));
    } else if (type == '0' || type == '\0') {
      std::string name = long_name.empty() ? text_at(block, 0, name_bytes) : long_name;
      const bool has_prefix = long_name.empty() && block.substr(magic_at, 6) == std::string_view("ustar\0", 6);
      const std::string prefix = has_prefix ? text_at(block, prefix_at, prefix_bytes) : "";
      if (!prefix.empty()) name = prefix + "/" + name;
      return TarFile{std::move(name), std::move(bytes)};
    } else {
      long_name.clear();
    }
  }
}

arrow::Status append_tar_file(std::string_view name, std::string_view bytes, std::string& out) {
  std::string_view prefix;
  std::string_view own = name;
  if (name.size() > name_bytes) {
    const std::size_t cut = name.find('/', name.size() - name_bytes - 1);
    if (cut == std::string_view::npos || cut > prefix_bytes) {
      return arrow::Status::Invalid("the name ", std::string(name), " is too long for an archive");
    }
    prefix = name.substr(0, cut);
    own = name.substr(cut + 1);
  }
  std::array<char, block_bytes> block{};
  std::copy(own.begin(), own.end(), block.begin());
  std::copy(prefix.begin(), prefix.end(), block.begin() + prefix_at);
  const auto set = [&](std::size_t at, const char* text) { std::memcpy(block.data() + at, text, std::strlen(text)); };
  set(100, "0000644");
  set(108, "0000000");
  set(116, "0000000");
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "%011llo", static_cast<unsigned long long>(bytes.size()));
  set(size_at, number.data());
  set(136, "00000000000");
  block[type_at] = '0';
  set(magic_at, "ustar");
  set(magic_at + 6, "00");
  const auto sum = static_cast<unsigned>(checksum_of({block.data(), block.size()}));
  std::snprintf(number.data(), number.size(), "%06o", sum);
  set(checksum_at, number.data());
  block[checksum_at + 7] = ' ';
  out.append(block.data(), block.size());
  out += bytes;
  out.append((block_bytes - bytes.size() % block_bytes) % block_bytes, '\0');
  return arrow::Status::OK();
}

std::string tar_end() { return std::string(2 * block_bytes, '\0'); }

}  // namespace headway::flow
