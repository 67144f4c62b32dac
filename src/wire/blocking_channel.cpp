#include "wire/blocking_channel.hpp"

#include "wire/fd_passing.hpp"

#include <cerrno>
#include <cstring>

namespace headway::wire {
namespace {

Result<void> send_all(int fd, std::span<const char> bytes, std::span<const int> fds) {
  while (!bytes.empty()) {
    const ssize_t sent = send_with_fds(fd, bytes, fds, 0);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Error{ErrorKind::unknown_outcome, std::string("the peer is gone: ") + std::strerror(errno)};
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
    fds = {};
  }
  return {};
}

/// Fills all of `bytes`. False at an end of stream before the first byte, when `may_end`.
Result<bool> receive_all(int fd, std::span<char> bytes, std::vector<int>& fds, bool may_end) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t received = receive_with_fds(fd, bytes.subspan(done), fds, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received == 0 && done == 0 && may_end) return false;
    if (received <= 0) {
      const std::string why = received == 0 ? "end of stream" : std::strerror(errno);
      return Error{ErrorKind::unknown_outcome, "the peer is gone in the middle of a message: " + why};
    }
    done += static_cast<std::size_t>(received);
  }
  return true;
}

}  // namespace

Result<void> send_frame(int fd, const Frame& frame) {
  const FrameHeader header = header_of(frame);
  if (auto ok = check_header(header); !ok) return ok;
  std::string head(reinterpret_cast<const char*>(&header), sizeof(header));
  head += frame.json;
  if (auto ok = send_all(fd, head, frame.fds); !ok) return ok;
  return frame.blob ? send_all(fd, *frame.blob, {}) : Result<void>{};
}

Result<std::optional<Frame>> receive_frame(int fd) {
  FrameHeader header;
  Frame frame;
  auto begun = receive_all(fd, {reinterpret_cast<char*>(&header), sizeof(header)}, frame.fds, true);
  if (!begun) return begun.error();
  if (!*begun) return std::optional<Frame>{};
  if (auto ok = check_header(header); !ok) return ok.error();
  frame.json.resize(header.json_size);
  if (auto ok = receive_all(fd, frame.json, frame.fds, false); !ok) return ok.error();
  if (header.blob_size > 0) {
    std::string blob(header.blob_size, '\0');
    if (auto ok = receive_all(fd, blob, frame.fds, false); !ok) return ok.error();
    frame.blob = std::make_shared<const std::string>(std::move(blob));
  }
  if (frame.fds.size() != header.fd_count) return Error{ErrorKind::corrupted, "a message came without its descriptors"};
  return std::optional<Frame>(std::move(frame));
}

}  // namespace headway::wire
