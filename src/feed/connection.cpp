#include "feed/connection.hpp"

#include "feed/address.hpp"
#include "wire/blocking_channel.hpp"
#include "wire/fd_passing.hpp"
#include "wire/fork_guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headway::feed {
namespace {

Error ended() { return {ErrorKind::unknown_outcome, "the data process has ended unexpectedly"}; }

timespec time_until(std::chrono::steady_clock::time_point time) {
  using std::chrono::nanoseconds;
  const auto left = std::max<nanoseconds>(time - std::chrono::steady_clock::now(), nanoseconds::zero());
  constexpr std::int64_t second = 1'000'000'000;
  return {static_cast<time_t>(left.count() / second), static_cast<long>(left.count() % second)};
}

}  // namespace

Error error_of(const Failed& failed) {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind) {
    if (failed.kind == to_string(static_cast<ErrorKind>(kind))) return {static_cast<ErrorKind>(kind), failed.message};
  }
  return {ErrorKind::internal, failed.message};
}

Result<std::shared_ptr<Connection>> Connection::open(const std::string& address) {
  Result<wire::Fd> socket = connect_to(address);
  if (!socket) return socket.error();
  return std::shared_ptr<Connection>(new Connection(std::move(*socket)));
}

Connection::Connection(wire::Fd socket)
    : owner_(getpid()), socket_(std::move(socket)), reader_(wire::messages_of<FromServer>) {
  wire::drop_in_children(socket_.get());
}

Connection::~Connection() {
  // A forked child has closed it, and may have the number for something else.
  if (getpid() != owner_) {
    socket_.release();
    return;
  }
  wire::keep_in_children(socket_.get());
}

Result<void> Connection::send(const wire::Frame& frame) {
  if (getpid() != owner_) return {};
  const std::lock_guard lock(sending_);
  if (Result<void> sent = wire::send_frame(socket_.get(), frame); !sent) {
    return sent.error().kind == ErrorKind::unknown_outcome ? ended() : sent.error();
  }
  return {};
}

void Connection::shut() {
  if (getpid() == owner_) ::shutdown(socket_.get(), SHUT_RDWR);
}

/// Signals are blocked from the check to the wait: one that came in between would be missed.
Result<Connection::Waited> Connection::wait(const Interrupted& interrupted, const Limit& until) const {
  std::array<pollfd, 2> looks{pollfd{socket_.get(), POLLIN, 0}, pollfd{until.doorbell, POLLIN, 0}};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  while (true) {
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ends = interrupted && interrupted();
    const timespec left = time_until(until.time.value_or(std::chrono::steady_clock::now()));
    const int found = ends ? 0 : ::ppoll(looks.data(), looks.size(), until.time ? &left : nullptr, &before);
    const int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (ends) return Waited::interrupted;
    if (found > 0) return looks[0].revents != 0 ? Waited::ready : Waited::too_long;
    if (found == 0) return Waited::too_long;
    if (reason != EINTR)
      return Error{ErrorKind::unavailable, "cannot wait for the data process: " + wire::reason_of(reason)};
  }
}

Result<wire::Frame> Connection::receive(const Interrupted& interrupted) {
  Result<std::optional<wire::Frame>> frame = take_frame(interrupted, {});
  if (!frame) return frame.error();
  return std::move(**frame);
}

Result<std::optional<wire::Frame>> Connection::receive_until(const Interrupted& interrupted,
                                                             std::chrono::steady_clock::time_point until,
                                                             int doorbell) {
  return take_frame(interrupted, {until, doorbell});
}

Result<void> Connection::check_owner() const {
  if (getpid() == owner_) return {};
  return Error{ErrorKind::invalid_argument, "a data stream cannot be read in a process that was forked from its own"};
}

Result<std::optional<wire::Frame>> Connection::take_frame(const Interrupted& interrupted, const Limit& until) {
  if (Result<void> checked = check_owner(); !checked) return checked.error();
  while (true) {
    const ssize_t count = wire::receive_with_fds(socket_.get(), reader_.space(), reader_.fds(), MSG_DONTWAIT);
    if (count > 0) {
      Result<std::optional<wire::Frame>> frame = reader_.take(static_cast<std::size_t>(count));
      if (!frame) return frame.error();
      if (*frame) return frame;
    } else if (count == 0 || errno == ECONNRESET) {
      return ended();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      const Result<Waited> waited = wait(interrupted, until);
      if (!waited) return waited.error();
      if (*waited == Waited::too_long) return std::optional<wire::Frame>();
      if (*waited == Waited::interrupted) return Error{ErrorKind::aborted, "the wait was interrupted"};
    } else if (errno != EINTR) {
      return Error{ErrorKind::unavailable, "cannot read from the data process: " + wire::reason_of(errno)};
    }
  }
}

}  // namespace headway::feed
