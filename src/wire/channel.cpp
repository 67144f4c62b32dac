#include "wire/channel.hpp"

#include "wire/fd_passing.hpp"
#include "wire/fork_guard.hpp"
#include "wire/spawn.hpp"

namespace headway::wire {

namespace asio = boost::asio;
using asio::as_tuple;
using asio::use_awaitable;

Channel::Channel(asio::io_context& loop, Fd fd, std::span<const Carried> kinds)
    : socket_(loop, asio::local::stream_protocol(), fd.get()),
      wakeup_(loop, asio::steady_timer::time_point::max()),
      reader_(kinds) {
  drop_in_children(fd.release());
  socket_.non_blocking(true);
}

Channel::~Channel() { close(); }

void Channel::start(FrameHandler on_frame, ClosedHandler on_closed) {
  on_frame_ = std::make_shared<const FrameHandler>(std::move(on_frame));
  on_closed_ = std::move(on_closed);
  auto self = shared_from_this();
  const auto fail = [self](const Error& error) { self->finish(error); };
  spawn(socket_.get_executor(), [self] { return self->read_loop(); }, fail);
  spawn(socket_.get_executor(), [self] { return self->write_loop(); }, fail);
}

void Channel::send(Frame frame) {
  if (closed_ || unsendable_) return;
  if (auto queued = outbox_.push(std::move(frame)); !queued) {
    unsendable_ = true;
    // Not at once: the caller does not expect its owner to hear of the end meanwhile.
    asio::post(socket_.get_executor(), [weak = weak_from_this(), error = queued.error()] {
      if (const auto self = weak.lock()) self->finish(error);
    });
  }
  wakeup_.cancel();
}

void Channel::close() {
  on_closed_ = nullptr;
  finish(std::nullopt);
}

void Channel::finish(std::optional<Error> error) {
  on_frame_ = nullptr;
  if (std::exchange(closed_, true)) return;
  keep_in_children(socket_.native_handle());
  boost::system::error_code ignored;
  socket_.close(ignored);
  wakeup_.cancel();
  outbox_.clear();
  reader_.fds().clear();
  if (auto on_closed = std::exchange(on_closed_, nullptr)) on_closed(std::move(error));
}

void Channel::end_of_stream(int error_number) {
  const bool gone = error_number == 0 || error_number == ECONNRESET;
  if (gone && !reader_.in_frame()) {
    finish(std::nullopt);
  } else {
    finish(gone ? Error{ErrorKind::unknown_outcome, "the peer is gone in the middle of a message"}
                : Error{ErrorKind::unavailable, reason_of(error_number)});
  }
}

/// Descriptors come with the first byte of a message, so it is taken by hand. 0 when the channel
/// has ended.
asio::awaitable<std::size_t> Channel::read_some() {
  while (!closed_) {
    const ssize_t count = receive_with_fds(socket_.native_handle(), reader_.space(), reader_.fds(), MSG_DONTWAIT);
    if (count > 0) co_return static_cast<std::size_t>(count);
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      end_of_stream(count == 0 ? 0 : errno);
      co_return 0;
    }
    (void)co_await socket_.async_wait(asio::socket_base::wait_read, as_tuple(use_awaitable));
  }
  co_return 0;
}

asio::awaitable<void> Channel::read_loop() {
  while (const std::size_t count = co_await read_some()) {
    Result<std::optional<Frame>> frame = reader_.take(count);
    if (!frame) {
      finish(frame.error());
    } else if (*frame) {
      const auto on_frame = on_frame_;
      if (auto heard = (*on_frame)(std::move(**frame)); !heard) finish(heard.error());
    }
  }
}

asio::awaitable<bool> Channel::write_all(std::span<const char> bytes, std::span<const Fd> fds) {
  while (!bytes.empty() && !closed_) {
    const ssize_t sent = send_with_fds(socket_.native_handle(), bytes, fds, MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      fds = {};
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      (void)co_await socket_.async_wait(asio::socket_base::wait_write, as_tuple(use_awaitable));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      // The reader sees the end of the stream, after all that the peer has said.
      unsendable_ = true;
      outbox_.clear();
      co_return false;
    } else if (errno != EINTR) {
      finish(Error{ErrorKind::unavailable, "a message cannot be sent: " + reason_of(errno)});
    }
  }
  co_return !closed_;
}

asio::awaitable<void> Channel::write_loop() {
  while (!closed_) {
    if (outbox_.empty()) {
      co_await wakeup_.async_wait(as_tuple(use_awaitable));
      continue;
    }
    const Frame frame = outbox_.pop();
    bool sent = co_await write_all(head_of(frame), frame.fds);
    if (sent && frame.blob) sent = co_await write_all(*frame.blob, {});
    if (!sent) co_return;
  }
}

}  // namespace headway::wire
