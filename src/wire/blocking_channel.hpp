#pragma once

#include "wire/frame.hpp"

#include <optional>

/// Frames over a stream socket for processes without an event loop: the worker factory and the worker's session.
namespace headway::wire {

/// Borrows `fd`. Blocks until all of `frame` is in the socket; the frame's descriptors are sent, not closed.
/// One sender at a time. Errors: `unknown_outcome` when the peer is gone.
Result<void> send_frame(int fd, const Frame& frame);

/// Blocks for the next frame; nullopt at the end of the stream. Descriptors that came with it are the caller's (close-on-exec).
/// One receiver at a time. Errors: `corrupted`, or `unknown_outcome` when the stream breaks inside a frame.
Result<std::optional<Frame>> receive_frame(int fd);

}  // namespace headway::wire
