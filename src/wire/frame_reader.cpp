#include "wire/frame_reader.hpp"

#include <algorithm>
#include <cstring>

namespace headway::wire {
namespace {

/// Read before the kind is known; most messages are shorter.
constexpr std::uint64_t first_bytes = 4 << 10;
/// By this, or to twice of what has come, a part grows.
constexpr std::size_t growth_bytes = 64 << 10;

/// What of `text` is still to be filled, up to `size` bytes in all.
std::span<char> space_in(std::string& text, std::size_t taken, std::uint64_t size) {
  if (text.size() == taken) {
    text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size, std::max(taken * 2, growth_bytes))));
  }
  return {text.data() + taken, text.size() - taken};
}

/// The kind as `frame_of` writes it, first of all: {"is":"Kind",... Empty when it is not there.
std::string_view kind_in(std::string_view json) {
  constexpr std::string_view start = R"({"is":")";
  if (!json.starts_with(start)) return {};
  json.remove_prefix(start.size());
  const std::size_t quote = json.find('"');
  return quote == std::string_view::npos ? std::string_view() : json.substr(0, quote);
}

}  // namespace

std::span<char> FrameReader::space() {
  switch (part_) {
    case Part::header: return std::span(head_).subspan(taken_);
    case Part::json:
      return space_in(frame_.json, taken_,
                      kind_checked_ ? header_.json_size : std::min<std::uint64_t>(header_.json_size, first_bytes));
    default: return space_in(blob_, taken_, header_.blob_size);
  }
}

Result<std::optional<Frame>> FrameReader::take(std::size_t count) {
  taken_ += count;
  if (part_ == Part::header) {
    if (taken_ < head_.size()) return std::optional<Frame>{};
    if (auto sound = end_header(); !sound) return sound.error();
  }
  // At once: a peer could add some to each byte.
  if (frame_.fds.size() > header_.fd_count) return other_descriptors();
  if (part_ == Part::json) {
    if (!kind_checked_ && taken_ >= std::min<std::uint64_t>(header_.json_size, first_bytes)) {
      if (auto sound = check_kind(); !sound) return sound.error();
    }
    if (taken_ < header_.json_size) return std::optional<Frame>{};
    part_ = Part::blob;
    taken_ = 0;
  }
  return taken_ < header_.blob_size ? Result<std::optional<Frame>>(std::nullopt) : end_frame();
}

Result<void> FrameReader::end_header() {
  std::memcpy(&header_, head_.data(), sizeof(header_));
  if (auto sound = check_bounds(header_, unbounded, "a message"); !sound) return sound;
  if (header_.json_size + header_.blob_size > bytes_max_) {
    return Error{ErrorKind::corrupted, "a message of " + std::to_string(header_.json_size + header_.blob_size) +
                                           " bytes is too long from a peer that has not proven itself"};
  }
  part_ = Part::json;
  taken_ = 0;
  kind_checked_ = false;
  return {};
}

Result<void> FrameReader::check_kind() {
  kind_checked_ = true;
  const std::string_view name = kind_in({frame_.json.data(), taken_});
  if (name.empty()) return Error{ErrorKind::corrupted, "a message without a kind"};
  const auto kind = std::ranges::find(kinds_, name, &Carried::is);
  if (kind == kinds_.end()) {
    return Error{ErrorKind::corrupted, "a message of unknown kind \"" + std::string(name) + "\""};
  }
  return check_bounds(header_, kind->bounds, name);
}

Error FrameReader::other_descriptors() const {
  return {ErrorKind::corrupted, "a message came with " + std::to_string(frame_.fds.size()) +
                                    " descriptors and says that it has " + std::to_string(header_.fd_count)};
}

Result<std::optional<Frame>> FrameReader::end_frame() {
  if (frame_.fds.size() < header_.fd_count) return other_descriptors();
  if (header_.blob_size > 0) frame_.blob = std::make_shared<const std::string>(std::move(blob_));
  part_ = Part::header;
  taken_ = 0;
  blob_.clear();
  return std::optional<Frame>(std::exchange(frame_, {}));
}

}  // namespace headway::wire
