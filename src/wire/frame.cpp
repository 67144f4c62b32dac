#include "wire/frame.hpp"

#include <algorithm>

namespace headway::wire {

FrameHeader header_of(const Frame& frame) {
  FrameHeader header;
  header.json_size = static_cast<std::uint32_t>(std::min<std::size_t>(frame.json.size(), UINT32_MAX));
  header.fd_count = static_cast<std::uint32_t>(frame.fds.size());
  header.blob_size = frame.blob ? frame.blob->size() : 0;
  return header;
}

Result<void> check_header(const FrameHeader& header) {
  if (header.json_size <= json_size_max && header.blob_size <= blob_size_max && header.fd_count <= fd_count_max)
    return {};
  return Error{ErrorKind::corrupted, "a message of " + std::to_string(header.json_size) + " + " +
                                         std::to_string(header.blob_size) + " bytes is beyond the bounds"};
}

Frame frame_of(std::string_view is, Json fields, Blob blob) {
  JsonObject json;
  json["is"] = is;
  json["fields"] = std::move(fields);
  return {json_text(json), std::move(blob), {}};
}

Result<void> read_message(const Frame& frame, std::span<const MessageKind> kinds, void* variant) {
  const Result<Json> json = parse_json(frame.json, "a message");
  if (!json) return json.error();
  if (!json->is_object()) return Error{ErrorKind::corrupted, "a message without a kind"};
  return read_message(json->get_object(), kinds, variant);
}

Result<void> read_message(const JsonObject& object, std::span<const MessageKind> kinds, void* variant) {
  const Json* is = object.if_contains("is");
  const Json* fields = object.if_contains("fields");
  if (is == nullptr || !is->is_string() || fields == nullptr) {
    return Error{ErrorKind::corrupted, "a message without a kind"};
  }
  const std::string_view name = is->get_string();
  const auto kind = std::ranges::find(kinds, name, &MessageKind::is);
  if (kind == kinds.end()) {
    return Error{ErrorKind::corrupted, "a message of unknown kind \"" + std::string(name) + "\""};
  }
  if (const auto wrong = codec::read(*kind->codec, *fields, kind->emplace_in(variant))) {
    return misfit_error(*wrong, name);
  }
  return {};
}

}  // namespace headway::wire
