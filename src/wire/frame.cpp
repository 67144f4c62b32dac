#include "wire/frame.hpp"

#include <algorithm>

namespace headway::wire {

FrameHeader header_of(const Frame& frame) {
  FrameHeader header;
  header.json_size = static_cast<std::uint32_t>(std::min<std::size_t>(frame.json.size(), UINT32_MAX));
  header.fd_count = static_cast<std::uint32_t>(frame.fds.size());
  header.blob_size = frame.inner_json.size() + (frame.blob ? frame.blob->size() : 0);
  return header;
}

std::string head_of(const Frame& frame) {
  const FrameHeader header = header_of(frame);
  std::string head(reinterpret_cast<const char*>(&header), sizeof(header));
  head.reserve(head.size() + frame.json.size() + frame.inner_json.size());
  head += frame.json;
  head += frame.inner_json;
  return head;
}

Result<void> check_bounds(const FrameHeader& header, const FrameBounds& bounds, std::string_view name) {
  if (header.json_size <= bounds.json_max && header.blob_size <= bounds.blob_max && header.fd_count <= bounds.fds_max)
    return {};
  const auto sizes = [](std::uint64_t json, std::uint64_t blob, std::uint32_t fds) {
    return std::to_string(json) + " + " + std::to_string(blob) + " bytes" +
           (fds > 0 ? " with " + std::to_string(fds) + " descriptors" : "");
  };
  return Error{ErrorKind::corrupted,
               std::string(name) + " of " + sizes(header.json_size, header.blob_size, header.fd_count) +
                   " is beyond the bounds (" + sizes(bounds.json_max, bounds.blob_max, bounds.fds_max) + ")"};
}

Result<void> check_frame(const Frame& frame) { return check_bounds(header_of(frame), frame.bounds, "a message"); }

Frame frame_of(std::string_view is, Json fields, Blob blob) {
  JsonObject json;
  json["is"] = is;
  json["fields"] = std::move(fields);
  return {json_text(json), std::move(blob)};
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
