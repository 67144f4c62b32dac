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

}  // namespace headway::wire
