#pragma once

/// The event loop's thread never waits for a disk, a lock or another process: everybody else's
/// messages, leases and reports would wait with it. What may wait says so by `may_block`; when that
/// is reached on an event loop's thread, and HEADWAY_CHECK_LOOP=1 is in the environment (as in the
/// tests), the process ends with a line that names it. Otherwise it costs a look at a flag.
namespace headway {

namespace detail {
inline thread_local bool on_event_loop = false;
void report_blocking(const char* what);
}  // namespace detail

/// While it lives, this thread runs an event loop.
class EventLoopThread {
 public:
  EventLoopThread() { detail::on_event_loop = true; }
  ~EventLoopThread() { detail::on_event_loop = false; }
  EventLoopThread(const EventLoopThread&) = delete;
  EventLoopThread& operator=(const EventLoopThread&) = delete;
};

/// `what`: the operation, as "a file is opened".
inline void may_block(const char* what) {
  if (detail::on_event_loop) [[unlikely]]
    detail::report_blocking(what);
}

}  // namespace headway
