#pragma once

#include "core/worker.hpp"

#include <string_view>

/// What libraries say in a process that has lost another one of its group: somebody else's failure,
/// seen from here.
namespace headway {

/// Whether an exception's words are those of a connection whose other end is gone. The words of
/// Gloo, NCCL, gRPC and the system; case does not matter.
bool tells_of_lost_peer(std::string_view message);

/// Whether a library ended its process because another one was gone, as its last lines say: JAX's
/// coordination service does.
bool ended_by_lost_peer(const ExitStatus& status, std::string_view last_lines);

}  // namespace headway
