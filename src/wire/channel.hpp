#pragma once

#include "wire/fd.hpp"
#include "wire/frame.hpp"
#include "wire/frame_reader.hpp"
#include "wire/outbox.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <memory>
#include <span>

namespace headway::wire {

/// Frames over a stream socket on an event loop. Made, used and ended on the loop's one thread. It
/// lives as long as its loops run or its owner holds it; `close` ends the loops.
///
/// Whatever goes wrong ends the channel with an error in words: a frame that cannot be read or
/// sent, a peer that takes nothing, an error or an exception of the frame handler.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  /// An error ends the channel with it.
  using FrameHandler = std::function<Result<void>(Frame)>;
  /// Called once, when the stream has ended: nullopt for an orderly end, else what broke. Never
  /// from within `start`, `send` or `close`.
  using ClosedHandler = std::function<void(std::optional<Error>)>;

  /// Takes `fd`, a connected stream socket. `kinds` (messages_of<...>) are the messages that the
  /// peer may send.
  Channel(boost::asio::io_context& loop, Fd fd, std::span<const Carried> kinds);
  ~Channel();

  void start(FrameHandler on_frame, ClosedHandler on_closed);

  /// Queues a frame; frames leave in order. Dropped after the end. One that cannot be sent ends the
  /// channel a moment later.
  void send(Frame frame);

  /// Ends the stream now; what is still queued is dropped. `on_closed` is not called for it.
  /// Handlers may call it.
  void close();

  bool closed() const { return closed_; }

 private:
  boost::asio::awaitable<void> read_loop();
  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<std::size_t> read_some();
  boost::asio::awaitable<bool> write_all(std::span<const char> bytes, std::span<const Fd> fds);
  void end_of_stream(int error_number);
  void finish(std::optional<Error> error);

  boost::asio::local::stream_protocol::socket socket_;
  /// Never expires; cancelled when there is something to write.
  boost::asio::steady_timer wakeup_;
  FrameReader reader_;
  Outbox outbox_;
  /// Shared with the loop while it runs: it may close this channel.
  std::shared_ptr<const FrameHandler> on_frame_;
  ClosedHandler on_closed_;
  bool unsendable_ = false;  ///< Nothing more is queued: the channel is about to end.
  bool closed_ = false;
};

}  // namespace headway::wire
