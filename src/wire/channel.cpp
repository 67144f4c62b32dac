#include "wire/channel.hpp"

#include "wire/fd_passing.hpp"
#include "wire/fork_guard.hpp"
#include "wire/spawn.hpp"

#include <unistd.h>

namespace headway::wire {

namespace asio = boost::asio;
using asio::as_tuple;
using asio::use_awaitable;

Channel::Channel(asio::io_context& loop, int fd)
    : socket_(loop, asio::local::stream_protocol(), fd), wakeup_(loop, asio::steady_timer::time_point::max()) {
  socket_.non_blocking(true);
  drop_in_children(fd);
}

Channel::~Channel() { close(); }

void Channel::start(FrameHandler on_frame, ClosedHandler on_closed) {
  on_frame_ = std::move(on_frame);
  on_closed_ = std::move(on_closed);
  auto self = shared_from_this();
  const auto fail = [self](const Error& error) { self->finish(error); };
  spawn(
      socket_.get_executor(), [self] { return self->read_loop(); }, fail);
  spawn(
      socket_.get_executor(), [self] { return self->write_loop(); }, fail);
}

void Channel::send(Frame frame) {
  if (closed_ || !check_header(header_of(frame))) {
    for (int fd : frame.fds) ::close(fd);
    return;
  }
  outbox_.push_back(std::move(frame));
  wakeup_.cancel();
}

void Channel::close() {
  on_closed_ = nullptr;
  on_frame_ = nullptr;
  finish(std::nullopt);
}

void Channel::finish(std::optional<Error> error) {
  if (closed_) return;
  closed_ = true;
  keep_in_children(socket_.native_handle());
  boost::system::error_code ignored;
  socket_.close(ignored);
  wakeup_.cancel();
  for (const Frame& frame : outbox_) {
    for (int fd : frame.fds) ::close(fd);
  }
  outbox_.clear();
  if (auto on_closed = std::exchange(on_closed_, nullptr)) on_closed(std::move(error));
}

asio::awaitable<bool> Channel::read_exactly(std::span<char> bytes, bool may_end) {
  auto [failure, count] =
      co_await asio::async_read(socket_, asio::buffer(bytes.data(), bytes.size()), as_tuple(use_awaitable));
  const bool gone = failure == asio::error::eof || failure == asio::error::connection_reset;
  if (failure == asio::error::operation_aborted || (gone && may_end && count == 0)) {
    finish(std::nullopt);
  } else if (failure) {
    const std::string why = gone ? "the peer is gone in the middle of a message" : failure.message();
    finish(Error{ErrorKind::unknown_outcome, why});
  }
  co_return !failure;
}

/// Descriptors come with the first byte of a message, so it is taken by hand.
asio::awaitable<bool> Channel::read_head(std::span<char> bytes, std::vector<int>& fds) {
  ssize_t count = -1;
  while (count < 0 && !closed_) {
    count = receive_with_fds(socket_.native_handle(), bytes, fds, MSG_DONTWAIT);
    if (count >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) break;  // As asio's own read tells it, below.
    auto [failure] = co_await socket_.async_wait(asio::socket_base::wait_read, as_tuple(use_awaitable));
    if (failure) break;
  }
  const std::size_t taken = count > 0 ? static_cast<std::size_t>(count) : 0;
  co_return co_await read_exactly(bytes.subspan(taken), taken == 0);
}

asio::awaitable<void> Channel::read_loop() {
  while (!closed_) {
    FrameHeader header;
    Frame frame;
    std::span<char> head(reinterpret_cast<char*>(&header), sizeof(header));
    if (!co_await read_head(head, frame.fds)) co_return;
    if (auto ok = check_header(header); !ok) {
      finish(ok.error());
      co_return;
    }
    frame.json.resize(header.json_size);
    if (!co_await read_exactly(frame.json, false)) co_return;
    if (header.blob_size > 0) {
      std::string blob(header.blob_size, '\0');
      if (!co_await read_exactly(blob, false)) co_return;
      frame.blob = std::make_shared<const std::string>(std::move(blob));
    }
    if (on_frame_) on_frame_(std::move(frame));
  }
}

asio::awaitable<bool> Channel::write_all(std::span<const char> bytes, std::span<const int> fds) {
  while (!bytes.empty() && !closed_) {
    const ssize_t sent = send_with_fds(socket_.native_handle(), bytes, fds, MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      fds = {};
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      auto [failure] = co_await socket_.async_wait(asio::socket_base::wait_write, as_tuple(use_awaitable));
      if (failure) co_return false;
    } else if (errno != EINTR) {
      co_return false;  // The reader sees the end of the stream and tells the owner.
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
    Frame frame = std::move(outbox_.front());
    outbox_.pop_front();
    const FrameHeader header = header_of(frame);
    std::string head(reinterpret_cast<const char*>(&header), sizeof(header));
    head += frame.json;
    bool sent = co_await write_all(head, frame.fds);
    if (sent && frame.blob) sent = co_await write_all(*frame.blob, {});
    for (int fd : frame.fds) ::close(fd);
    if (!sent) co_return;
  }
}

}  // namespace headway::wire
