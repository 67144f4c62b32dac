#pragma once

#include <boost/asio.hpp>

#include <chrono>
#include <functional>
#include <string>

#include <sys/types.h>

namespace headway::node {

/// How long a guard may take to end after the order to end.
struct GuardLimits {
  std::chrono::milliseconds stopped{5'000};  ///< One that is stopped (SIGSTOP).
  /// Any other: a process below it may be stuck in the kernel.
  std::chrono::milliseconds end{60'000};
};

/// A guard that has the order to end.
struct EndingGuard {
  pid_t pid = 0;
  std::string role = "the guard of a worker factory";  ///< For messages.
  GuardLimits limits = {};
};

/// Waits on the event loop until a child of this process, a guard, has ended, and reaps it. One
/// that takes longer than its limits is killed, with every process below it; `notice` gets the line
/// that says so. Nothing blocks. `ended` is called on the loop, unless the loop goes first; both
/// functions are kept until then, and may be empty.
void await_guard(boost::asio::io_context& loop, EndingGuard guard, std::function<void(const std::string&)> notice,
                 std::function<void()> ended);

}  // namespace headway::node
