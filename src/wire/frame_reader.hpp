#pragma once

#include "wire/frame.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace headway::wire {

/// Turns the bytes of a stream into frames, without I/O. Memory grows with the bytes that have
/// come, never by what a header claims; a frame that is beyond the bounds of its kind, or of a kind
/// that the channel does not carry, is refused before its raw part is read.
///
///     while (true) {
///       const std::size_t count = read(fd, reader.space());
///       const auto frame = reader.take(count);
///       if (!frame) return frame.error();
///       if (*frame) handle(std::move(**frame));
///     }
class FrameReader {
 public:
  /// `kinds` (messages_of<...>) outlives the reader. `bytes_max` bounds every frame as well.
  explicit FrameReader(std::span<const Carried> kinds, std::uint64_t bytes_max = UINT64_MAX)
      : kinds_(kinds), bytes_max_(bytes_max) {}

  void limit(std::uint64_t bytes_max) { bytes_max_ = bytes_max; }

  /// Where the next bytes of the stream go. Never empty, and never more than the frame still needs.
  std::span<char> space();

  /// `count` bytes have come into `space()`. A frame, once it is whole. After an error
  /// (`corrupted`) the stream cannot be read any further.
  Result<std::optional<Frame>> take(std::size_t count);

  /// Of the frame that is being read: descriptors that came with its bytes go here.
  std::vector<Fd>& fds() { return frame_.fds; }

  /// Whether a part of a frame has come.
  bool in_frame() const { return taken_ > 0 || part_ != Part::header; }

 private:
  enum class Part { header, json, blob };

  Result<void> end_header();
  Result<void> check_kind();
  Error other_descriptors() const;
  Result<std::optional<Frame>> end_frame();

  std::span<const Carried> kinds_;
  std::uint64_t bytes_max_;
  Part part_ = Part::header;
  std::array<char, sizeof(FrameHeader)> head_{};
  FrameHeader header_;
  std::size_t taken_ = 0;  ///< Of the part that is being read.
  bool kind_checked_ = false;
  Frame frame_;
  std::string blob_;
};

}  // namespace headway::wire
