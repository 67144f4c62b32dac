#pragma once

#include "wire/frame.hpp"

#include <boost/asio.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <span>

namespace headway::wire {

/// Frames over a stream socket on an event loop. Made, used and ended on the loop's one thread. It lives as long as its loops run
/// or its owner holds it; `close` ends the loops.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  using FrameHandler = std::function<void(Frame)>;
  /// Called once, when the stream has ended: nullopt for an orderly end or `close`, else what broke.
  using ClosedHandler = std::function<void(std::optional<Error>)>;

  /// Takes `fd`, a connected stream socket.
  Channel(boost::asio::io_context& loop, int fd);
  ~Channel();

  void start(FrameHandler on_frame, ClosedHandler on_closed);

  /// Queues a frame; frames leave in order. The frame's descriptors are closed after they are sent. Dropped after
  /// the end, and when it is beyond the bounds of frame.hpp.
  void send(Frame frame);

  /// Ends the stream now; what is still queued is dropped. `on_closed` is not called for it.
  void close();

  bool closed() const { return closed_; }

 private:
  boost::asio::awaitable<void> read_loop();
  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<bool> read_exactly(std::span<char> bytes, bool may_end);
  boost::asio::awaitable<bool> read_head(std::span<char> bytes, std::vector<int>& fds);
  boost::asio::awaitable<bool> write_all(std::span<const char> bytes, std::span<const int> fds);
  void finish(std::optional<Error> error);

  boost::asio::local::stream_protocol::socket socket_;
  boost::asio::steady_timer wakeup_;  ///< Never expires; cancelled when there is something to write.
  std::deque<Frame> outbox_;
  FrameHandler on_frame_;
  ClosedHandler on_closed_;
  bool closed_ = false;
};

}  // namespace headway::wire
