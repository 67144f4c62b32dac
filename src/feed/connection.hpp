#pragma once

#include "feed/feed_messages.hpp"
#include "wire/fd.hpp"
#include "wire/frame.hpp"
#include "wire/frame_reader.hpp"

#include <headway/result.hpp>

#include <chrono>
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
  /// The same until a time, or until `doorbell` is readable, if there is one; nothing when no
  /// message has come by then.
  Result<std::optional<wire::Frame>> receive_until(const Interrupted& interrupted,
                                                   std::chrono::steady_clock::time_point until, int doorbell = -1);
  /// Errors: `invalid_argument`, in a child that was forked from the process which opened it.
  Result<void> check_owner() const;

  /// Any thread: a wait ends, and nothing more is sent.
  void shut();

 private:
  explicit Connection(wire::Fd socket);
  enum class Waited { ready, interrupted, too_long };
  struct Limit {
    std::optional<std::chrono::steady_clock::time_point> time;
    int doorbell = -1;
  };
  Result<Waited> wait(const Interrupted& interrupted, const Limit& until) const;
  Result<std::optional<wire::Frame>> take_frame(const Interrupted& interrupted, const Limit& until);

  const pid_t owner_;
  std::mutex sending_;
  wire::Fd socket_;
  wire::FrameReader reader_;
};

/// The error that a Failed message carries.
Error error_of(const Failed& failed);

}  // namespace headway::feed
