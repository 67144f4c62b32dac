#pragma once

#include "wire/fd.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include <sys/types.h>

/// `sendmsg` and `recvmsg` with descriptors beside the bytes (SCM_RIGHTS).
namespace headway::wire {

/// Sends some of `bytes`, with all of `fds` at the first of them. Returns as `send(2)` does; never
/// raises SIGPIPE.
ssize_t send_with_fds(int socket, std::span<const char> bytes, std::span<const Fd> fds, int flags);

/// Receives some bytes and appends the descriptors that came with them (close-on-exec). Returns as
/// `recv(2)` does.
ssize_t receive_with_fds(int socket, std::span<char> bytes, std::vector<Fd>& fds, int flags);

}  // namespace headway::wire
