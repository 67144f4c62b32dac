#pragma once

#include "core/json.hpp"

#include <chrono>
#include <cstdint>

#include <sys/types.h>

/// Processes by more than their number, which the system gives again to others.
namespace headway::node {

struct ProcessIdentity {
  std::int64_t pid = 0;
  std::int64_t started = 0;  ///< Clock ticks after the machine's start, as /proc tells.
};
BOOST_DESCRIBE_STRUCT(ProcessIdentity, (), (pid, started))

/// `started` is 0 when there is no such process.
ProcessIdentity identity_of(pid_t pid);

/// Whether this very process lives; one that has ended and was not reaped does not.
bool is_alive(const ProcessIdentity& process);

/// Blocks until it has ended; false when it lives on after `limit`.
bool wait_for_end(const ProcessIdentity& process, std::chrono::milliseconds limit);

}  // namespace headway::node
