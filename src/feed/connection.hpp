#pragma once

#include "feed/feed_messages.hpp"
#include "wire/fd.hpp"
#include "wire/frame.hpp"
#include "wire/frame_reader.hpp"

#include <headway/result.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <sys/types.h>

namespace headway::feed {

/// Called when a signal has interrupted a wait. True: the wait ends with `aborted`.
using Interrupted = std::function<bool()>;

/// A client's connection to the data process.
class Connection {
 public:
  /// `address` as DataProcess has it. Errors: `unavailable`, when nobody listens there;
  /// `refused`, when somebody else than this user does.
  static Result<std::shared_ptr<Connection>> open(const std::string& address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Any thread. Does nothing in a child that was forked from the process which opened it.
  Result<void> send(const wire::Frame& frame);

  /// Waits for the next message. One thread at a time. Errors: `aborted`; `unknown_outcome`, when
  /// the data process has ended.
  Result<wire::Frame> receive(const Interrupted& interrupted);

  /// Any thread: a wait ends, and nothing more is sent.
  void shut();

 private:
  explicit Connection(wire::Fd socket);
  Result<bool> wait(const Interrupted& interrupted) const;

  const pid_t owner_;
  std::mutex sending_;
  wire::Fd socket_;
  wire::FrameReader reader_;
};

/// The error that a Failed message carries.
Error error_of(const Failed& failed);

}  // namespace headway::feed
