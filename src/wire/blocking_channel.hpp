#pragma once

#include "wire/frame_reader.hpp"

/// Frames over a stream socket for processes without an event loop: the worker factory and the
/// worker's session.
namespace headway::wire {

/// Borrows `fd`. Blocks until all of `frame` is in the socket; the frame's descriptors are sent,
/// not closed. One sender at a time. Errors: `unknown_outcome` when the peer is gone, `corrupted`
/// when the frame is beyond the bounds of its kind (nothing was sent then).
Result<void> send_frame(int fd, const Frame& frame);

/// Blocks for the next frame; nullopt at the end of the stream. `kinds` (messages_of<...>) are the
/// messages that the peer may send. Descriptors are close-on-exec. One receiver at a time. Errors:
/// `corrupted`, or `unknown_outcome` when the stream breaks inside a frame.
Result<std::optional<Frame>> receive_frame(int fd, std::span<const Carried> kinds);

}  // namespace headway::wire
