#include "dashboard/growing_file.hpp"

#include "core/location.hpp"
#include "storage/random_reader.hpp"

#include <span>
#include <vector>

namespace headway::dashboard {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr auto remote_pause = std::chrono::seconds(5);

}  // namespace

Result<void> GrowingFile::read(const std::function<void()>& restart,
                               const std::function<void(std::string_view)>& line) {
  const auto now = std::chrono::steady_clock::now();
  if (is_remote(location_) && asked_ != std::chrono::steady_clock::time_point() && now - asked_ < remote_pause) {
    return {};
  }
  asked_ = now;
  const Result<storage::RandomReader> file = storage::RandomReader::open(location_);
  if (!file && file.error().kind == ErrorKind::not_found) return {};
  if (!file) return file.error();
  if (file->size() < read_) {
    read_ = 0;
    restart();
  }
  std::string text;
  std::vector<std::byte> piece(piece_bytes);
  for (std::uint64_t place = read_; place < file->size();) {
    const Result<std::size_t> size = file->read_at(place, piece);
    if (!size) return size.error();
    if (*size == 0) break;
    place += *size;
    text.append(reinterpret_cast<const char*>(piece.data()), *size);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      line(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
    read_ += begin;
  }
  return {};
}

}  // namespace headway::dashboard
