#include "wire/frame.hpp"

namespace headway::wire {

Result<void> check_header(const FrameHeader& header) {
  if (header.json_size <= json_size_max && header.blob_size <= blob_size_max && header.fd_count <= fd_count_max)
    return {};
  return Error{ErrorKind::corrupted, "a message of " + std::to_string(header.json_size) + " + " +
                                         std::to_string(header.blob_size) + " bytes is beyond the bounds"};
}

}  // namespace headway::wire
