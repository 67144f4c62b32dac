#include "dashboard/log_view.hpp"

#include "core/text.hpp"
#include "dashboard/masking.hpp"
#include "storage/disk/directory.hpp"
#include "storage/random_reader.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <sys/stat.h>

namespace headway::dashboard {
namespace {

constexpr double limit_default = 65536;
constexpr double limit_max = 1 << 20;
constexpr double offset_max = 1e15;
/// A search reads no more of a file at once.
constexpr std::uint64_t searched_max = std::uint64_t{64} << 20;
constexpr std::uint64_t window_bytes = std::uint64_t{1} << 20;

Result<std::string> read(const storage::RandomReader& file, std::uint64_t from, std::uint64_t to) {
  std::string text(to > from ? to - from : 0, '\0');
  const Result<std::size_t> size = file.read_at(from, std::as_writable_bytes(std::span(text)));
  if (!size) return size.error();
  text.resize(*size);
  return text;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return text;
}

/// Where the line begins that has the text: the first one from `after` on.
Result<std::optional<std::uint64_t>> find_after(const storage::RandomReader& file, std::uint64_t after,
                                                const std::string& text) {
  const std::uint64_t last = std::min<std::uint64_t>(file.size(), after + searched_max);
  for (std::uint64_t place = after; place < last;) {
    const std::uint64_t end = std::min(last, place + window_bytes + text.size());
    Result<std::string> window = read(file, place, end);
    if (!window) return window.error();
    const std::size_t hit = lower(*window).find(text);
    if (hit != std::string::npos) {
      const std::size_t line = window->rfind('\n', hit);
      return std::optional(place + (line == std::string::npos || hit == 0 ? 0 : line + 1));
    }
    place += window_bytes;
  }
  return std::optional<std::uint64_t>();
}

/// Where the line ends that has the text: the last one before `before`.
Result<std::optional<std::uint64_t>> find_before(const storage::RandomReader& file, std::uint64_t before,
                                                 const std::string& text) {
  const std::uint64_t first = before > searched_max ? before - searched_max : 0;
  for (std::uint64_t end = before; end > first;) {
    const std::uint64_t begin = end > first + window_bytes ? end - window_bytes : first;
    Result<std::string> window = read(file, begin, std::min(before, end + text.size()));
    if (!window) return window.error();
    const std::size_t hit = lower(*window).rfind(text);
    if (hit != std::string::npos) {
      const std::size_t line = window->find('\n', hit);
      return std::optional(line == std::string::npos ? std::min(before, end + text.size()) : begin + line + 1);
    }
    end = begin;
  }
  return std::optional<std::uint64_t>();
}

/// The file's bytes, from whole lines where there are such.
Result<LogPiece> piece_of(const storage::RandomReader& file, std::uint64_t from, std::uint64_t to, bool cut_begin) {
  Result<std::string> text = read(file, from, std::min(to, file.size()));
  if (!text) return text.error();
  if (cut_begin && from > 0) {
    const std::size_t line = text->find('\n');
    if (line != std::string::npos && line + 1 < text->size()) {
      text->erase(0, line + 1);
      from += line + 1;
    }
  }
  LogPiece piece;
  piece.from = static_cast<std::int64_t>(from);
  piece.to = piece.from + static_cast<std::int64_t>(text->size());
  piece.end = static_cast<std::int64_t>(file.size());
  piece.text = mask_secrets(to_utf8(*text));
  return piece;
}

}  // namespace

std::vector<LogFile> log_files(const std::string& folder) {
  constexpr std::string_view prefix = "rank_";
  std::vector<LogFile> files;
  const std::string logs = storage::join(folder, "logs");
  const auto names = storage::read_directory(logs);
  if (!names) return files;
  for (const std::string& name : *names) {
    if (!name.starts_with(prefix)) continue;
    LogFile file;
    const auto [stop, failure] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), file.rank);
    struct ::stat status{};
    if (failure != std::errc() || *stop != '.' || ::stat(storage::join(logs, name).c_str(), &status) != 0) continue;
    file.bytes = status.st_size;
    file.name = name;
    files.push_back(std::move(file));
  }
  std::ranges::sort(files, {}, [](const LogFile& file) { return std::pair(file.rank, file.name); });
  return files;
}

Result<LogPiece> log_piece(const std::string& location, const Target& target) {
  const Result<double> limit = target.number("limit", limit_default, 1, limit_max);
  const Result<double> before = target.number("before", -1, -1, offset_max);
  const Result<double> after = target.number("after", -1, -1, offset_max);
  for (const auto* given : {&limit, &before, &after}) {
    if (!*given) return given->error();
  }
  const Result<storage::RandomReader> file = storage::RandomReader::open(location);
  if (!file) return file.error();
  const auto bytes = static_cast<std::uint64_t>(*limit);
  const std::string text = lower(target.text("find"));
  if (*after >= 0) {
    std::uint64_t from = std::min(file->size(), static_cast<std::uint64_t>(*after));
    std::optional<std::uint64_t> found;
    if (!text.empty()) {
      const auto hit = find_after(*file, from, text);
      if (!hit) return hit.error();
      if (!*hit) return piece_of(*file, from, from, false);
      found = from = **hit;
    }
    Result<LogPiece> piece = piece_of(*file, from, from + bytes, false);
    if (piece && found) piece->found = static_cast<std::int64_t>(*found);
    return piece;
  }
  std::uint64_t to = *before >= 0 ? std::min(file->size(), static_cast<std::uint64_t>(*before)) : file->size();
  std::optional<std::uint64_t> found;
  if (!text.empty()) {
    const auto hit = find_before(*file, to, text);
    if (!hit) return hit.error();
    if (!*hit) return piece_of(*file, to, to, false);
    found = to = **hit;
  }
  Result<LogPiece> piece = piece_of(*file, to > bytes ? to - bytes : 0, to, true);
  if (piece && found) piece->found = static_cast<std::int64_t>(*found);
  return piece;
}

}  // namespace headway::dashboard
