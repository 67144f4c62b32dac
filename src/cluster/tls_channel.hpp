#pragma once

#include "cluster/secure_channel.hpp"

#include <boost/asio/ssl.hpp>

#include <deque>
#include <span>
#include <vector>

namespace headway::cluster {

/// What goes over the connection: parts. Those of the stream hold frames, one after the other, as many as fit or a piece of one; a part
/// ahead holds one whole frame, and may stand between any two of the stream. So what is urgent waits for one part at most, however long
/// the frame that is being sent.
struct PartHeader {
  std::uint32_t size = 0;  ///< Bytes that follow, 1 to `part_bytes`.
  std::uint32_t ahead = 0;
};
static_assert(sizeof(PartHeader) == 8);

inline constexpr std::size_t part_bytes = 64 << 10;

class TlsChannel : public SecureChannel, public std::enable_shared_from_this<TlsChannel> {
 public:
  TlsChannel(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> context);

  /// The TLS handshake, which may take 10 s; false when there was none.
  boost::asio::awaitable<bool> shake_hands(boost::asio::ssl::stream_base::handshake_type type);

  void start(FrameHandler on_frame, ClosedHandler on_closed) override;
  void hand_over(FrameHandler on_frame, ClosedHandler on_closed) override;
  void send(wire::Frame frame) override;
  void send_ahead(wire::Frame frame) override;
  void finish() override;
  void close() override;
  std::size_t queued_bytes() const override { return queued_; }
  void on_drained(std::function<void()> drained) override { drained_ = std::move(drained); }
  void trust() override { trusted_ = true; }
  const std::string& binding() const override { return binding_; }
  std::string remote_ip() const override { return remote_ip_; }

 private:
  void queue(wire::Frame frame, std::deque<wire::Frame>& outbox);
  void end(std::optional<Error> error);
  void end_of_reading(const boost::system::error_code& failure, bool between_messages);

  boost::asio::awaitable<void> read_loop();
  boost::asio::awaitable<bool> hear_frame(bool ahead);
  boost::asio::awaitable<bool> read(std::span<char> bytes, bool ahead, bool may_end);
  boost::asio::awaitable<bool> read_stream(std::span<char> bytes, bool may_end);
  boost::asio::awaitable<bool> begin_part(bool may_end);
  boost::asio::awaitable<bool> read_exactly(std::span<char> bytes, bool may_end);
  Result<void> check(const wire::FrameHeader& header, bool ahead) const;

  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<bool> write_stream(std::string_view bytes);
  boost::asio::awaitable<bool> write_ahead();
  boost::asio::awaitable<bool> write_part(std::string_view bytes, bool ahead);
  std::size_t gather(wire::Blob& long_part);

  std::shared_ptr<boost::asio::ssl::context> context_;
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
  boost::asio::steady_timer wakeup_;  ///< Never expires; cancelled when there is something to write.
  std::vector<char> inbox_;
  std::span<char> arrived_;     ///< What of it has not been read yet.
  std::size_t part_left_ = 0;   ///< Of the stream's part that is being read.
  std::size_t ahead_left_ = 0;  ///< The size of the part ahead that is being read.
  std::deque<wire::Frame> outbox_;
  std::deque<wire::Frame> ahead_;
  std::string gathered_;  ///< Frames that leave together.
  std::string part_;      ///< What is being written.
  std::size_t queued_ = 0;
  bool was_full_ = false;
  bool trusted_ = false;
  bool finishing_ = false;
  bool closed_ = false;
  FrameHandler on_frame_;
  ClosedHandler on_closed_;
  std::function<void()> drained_;
  std::string binding_;
  std::string remote_ip_;
};

}  // namespace headway::cluster
