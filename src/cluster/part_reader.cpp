#include "cluster/part_reader.hpp"

#include <algorithm>
#include <cstring>

namespace headway::cluster {

void PartReader::trust() {
  stream_.limit(UINT64_MAX);
  ahead_.limit(UINT64_MAX);
}

std::span<char> PartReader::space() {
  if (part_left_ == 0) return std::span(head_).subspan(head_taken_);
  const std::span<char> space = reader().space();
  return space.first(std::min(space.size(), part_left_));
}

Result<std::optional<wire::Frame>> PartReader::take(std::size_t count) {
  if (part_left_ == 0) {
    head_taken_ += count;
    if (head_taken_ < head_.size()) return std::optional<wire::Frame>{};
    head_taken_ = 0;
    std::memcpy(&part_, head_.data(), sizeof(part_));
    if (part_.size == 0 || part_.size > part_bytes || part_.ahead > 1)
      return Error{ErrorKind::corrupted, "a part of a message that is beyond the bounds"};
    part_left_ = part_.size;
    return std::optional<wire::Frame>{};
  }
  part_left_ -= count;
  Result<std::optional<wire::Frame>> frame = reader().take(count);
  if (frame && part_.ahead != 0 && frame->has_value() != (part_left_ == 0))
    return Error{ErrorKind::corrupted, "a message ahead of others that is not whole"};
  return frame;
}

}  // namespace headway::cluster
