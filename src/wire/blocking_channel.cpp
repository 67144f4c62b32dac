#include "wire/blocking_channel.hpp"

#include "wire/fd_passing.hpp"

#include <cerrno>

namespace headway::wire {
namespace {

Result<void> send_all(int fd, std::span<const char> bytes, std::span<const Fd> fds) {
  while (!bytes.empty()) {
    const ssize_t sent = send_with_fds(fd, bytes, fds, 0);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Error{ErrorKind::unknown_outcome, "the peer is gone: " + reason_of(errno)};
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
    fds = {};
  }
  return {};
}

}  // namespace

Result<void> send_frame(int fd, const Frame& frame) {
  if (auto fits = check_frame(frame); !fits) return fits;
  if (auto ok = send_all(fd, head_of(frame), frame.fds); !ok) return ok;
  return frame.blob ? send_all(fd, *frame.blob, {}) : Result<void>{};
}

Result<std::optional<Frame>> receive_frame(int fd, std::span<const Carried> kinds) {
  FrameReader reader(kinds);
  while (true) {
    const ssize_t count = receive_with_fds(fd, reader.space(), reader.fds(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 && !reader.in_frame()) return std::optional<Frame>{};
    if (count <= 0) {
      const std::string why = count == 0 ? "end of stream" : reason_of(errno);
      return Error{ErrorKind::unknown_outcome, "the peer is gone in the middle of a message: " + why};
    }
    auto frame = reader.take(static_cast<std::size_t>(count));
    if (!frame || *frame) return frame;
  }
}

}  // namespace headway::wire
