#pragma once

#include "core/json.hpp"
#include "wire/fd.hpp"
#include "wire/frame_bounds.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// A message on a socket: JSON text, and beside it at most one part of raw bytes and some
/// descriptors.
///
/// On the wire: 4 bytes size of the JSON, 4 bytes number of descriptors, 8 bytes size of the raw
/// part (all little-endian), the JSON, the raw bytes. Descriptors travel with the first byte.
namespace headway::wire {

struct FrameHeader {
  std::uint32_t json_size = 0;
  std::uint32_t fd_count = 0;
  std::uint64_t blob_size = 0;
};
static_assert(sizeof(FrameHeader) == 16);

/// Raw bytes that many frames may share without a copy (one pickled function for every rank).
using Blob = std::shared_ptr<const std::string>;

/// Owns its descriptors, which are closed once they are sent.
struct Frame {
  std::string json;
  Blob blob;
  std::vector<Fd> fds = {};
  /// Sent as the beginning of the raw part: the JSON of a message within this one.
  std::string inner_json = {};
  FrameBounds bounds = unbounded;
};

FrameHeader header_of(const Frame& frame);

/// All that goes over the wire before `frame.blob`.
std::string head_of(const Frame& frame);

/// `corrupted` when a frame that is called `name` is beyond the bounds.
Result<void> check_bounds(const FrameHeader& header, const FrameBounds& bounds, std::string_view name);

/// Whether the frame is within the bounds of its kind.
Result<void> check_frame(const Frame& frame);

/// A frame begins with its kind: FrameReader looks for it there.
Frame frame_of(std::string_view is, Json fields, Blob blob);

/// A described message struct with a static `is` (its name on the wire) becomes a frame.
template <class M>
Frame to_frame(const M& message, Blob blob = nullptr) {
  Frame frame = frame_of(M::is, to_json(message), std::move(blob));
  frame.bounds = bounds_of<M>();
  return frame;
}

/// One of the messages that a variant may hold.
struct MessageKind {
  std::string_view is;
  const codec::Codec* codec;
  void* (*emplace_in)(void* variant);  ///< Makes it the variant's value.
};

template <class Variant, std::size_t I>
void* emplace_in(void* variant) {
  return &static_cast<Variant*>(variant)->template emplace<I>();
}

template <class Variant, std::size_t... I>
constexpr std::array<MessageKind, sizeof...(I)> kinds_of(std::index_sequence<I...>) {
  return {MessageKind{std::variant_alternative_t<I, Variant>::is, &codec::of<std::variant_alternative_t<I, Variant>>,
                      &emplace_in<Variant, I>}...};
}

template <class Variant>
inline constexpr auto message_kinds = kinds_of<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());

/// Reads the frame's message into `variant`; `corrupted` when it is of none of these kinds.
Result<void> read_message(const Frame& frame, std::span<const MessageKind> kinds, void* variant);
/// The same of a message that stands in another one: an object with its name ("is") and its
/// "fields".
Result<void> read_message(const JsonObject& object, std::span<const MessageKind> kinds, void* variant);

/// The frame as one of the messages of `Variant`; `corrupted` when it is none of them.
template <class Variant>
Result<Variant> from_frame(const Frame& frame) {
  Variant message;
  if (Result<void> read = read_message(frame, message_kinds<Variant>, &message); !read) return read.error();
  return message;
}

}  // namespace headway::wire
