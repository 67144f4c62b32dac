#pragma once

#include "wire/frame_reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace headway::cluster {

/// What goes over the connection: parts. Those of the stream hold frames, one after the other, as
/// many as fit or a piece of one; a part ahead holds one whole frame, and may stand between any two
/// of the stream. So what is urgent waits for one part at most, however long the frame that is
/// being sent.
struct PartHeader {
  std::uint32_t size = 0;  ///< Bytes that follow, 1 to `part_bytes`.
  std::uint32_t ahead = 0;
};
static_assert(sizeof(PartHeader) == 8);

inline constexpr std::size_t part_bytes = 64 << 10;

/// Turns the bytes of a connection into frames, without I/O; used as a wire::FrameReader is.
class PartReader {
 public:
  /// Until `trust`, frames of more than `stranger_bytes_max` are refused.
  explicit PartReader(std::span<const wire::Carried> kinds)
      : stream_(kinds, stranger_bytes_max), ahead_(kinds, stranger_bytes_max) {}

  static constexpr std::uint64_t stranger_bytes_max = 64 << 10;
  void trust();

  /// Where the next bytes go; never empty.
  std::span<char> space();
  /// `count` bytes have come into `space()`. A frame, once it is whole. Errors: `corrupted`.
  Result<std::optional<wire::Frame>> take(std::size_t count);
  /// Whether a part of a frame has come.
  bool in_frame() const { return head_taken_ > 0 || part_left_ > 0 || stream_.in_frame() || ahead_.in_frame(); }

 private:
  wire::FrameReader& reader() { return part_.ahead != 0 ? ahead_ : stream_; }

  wire::FrameReader stream_;
  wire::FrameReader ahead_;
  std::array<char, sizeof(PartHeader)> head_{};
  std::size_t head_taken_ = 0;
  PartHeader part_;
  std::size_t part_left_ = 0;  ///< Of the part that is being read.
};

}  // namespace headway::cluster
