#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

/// A message on a socket: JSON text, and beside it at most one part of raw bytes and some descriptors.
///
/// On the wire: 4 bytes size of the JSON, 4 bytes number of descriptors, 8 bytes size of the raw part (all little-endian), the
/// JSON, the raw bytes. Descriptors travel with the first byte.
namespace headway::wire {

inline constexpr std::uint32_t json_size_max = 256u << 20;
inline constexpr std::uint64_t blob_size_max = 16ull << 30;
inline constexpr std::uint32_t fd_count_max = 8;

struct FrameHeader {
  std::uint32_t json_size = 0;
  std::uint32_t fd_count = 0;
  std::uint64_t blob_size = 0;
};
static_assert(sizeof(FrameHeader) == 16);

/// Raw bytes that many frames may share without a copy (one pickled function for every rank).
using Blob = std::shared_ptr<const std::string>;

/// Owns its descriptors until they are sent or taken.
struct Frame {
  std::string json;
  Blob blob;
  std::vector<int> fds;
};

FrameHeader header_of(const Frame& frame);

/// `corrupted` when a header's numbers are beyond the bounds.
Result<void> check_header(const FrameHeader& header);

/// A described message struct with a static `is` (its name on the wire) becomes a frame.
template <class M>
Frame to_frame(const M& message, Blob blob = nullptr) {
  JsonObject json;
  json["is"] = M::is;
  json["fields"] = boost::json::value_from(message);
  return {json_text(json), std::move(blob), {}};
}

/// The frame as one of the messages of `Variant`; `corrupted` when it is none of them.
template <class Variant, std::size_t I = 0>
Result<Variant> match_message(const Json& fields, std::string_view is) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return Error{ErrorKind::corrupted, "a message of unknown kind \"" + std::string(is) + "\""};
  } else {
    using M = std::variant_alternative_t<I, Variant>;
    if (is != M::is) return match_message<Variant, I + 1>(fields, is);
    Result<M> message = from_json<M>(fields, M::is);
    if (!message) return message.error();
    return Variant(std::in_place_index<I>, std::move(*message));
  }
}

template <class Variant>
Result<Variant> from_frame(const Frame& frame) {
  Result<Json> json = parse_json(frame.json, "a message");
  if (!json) return json.error();
  const JsonObject* object = json->if_object();
  const Json* is = object == nullptr ? nullptr : object->if_contains("is");
  const Json* fields = object == nullptr ? nullptr : object->if_contains("fields");
  if (is == nullptr || !is->is_string() || fields == nullptr) {
    return Error{ErrorKind::corrupted, "a message without a kind"};
  }
  return match_message<Variant>(*fields, is->get_string());
}

}  // namespace headway::wire
