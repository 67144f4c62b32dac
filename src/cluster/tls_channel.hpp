#pragma once

#include "cluster/part_reader.hpp"
#include "cluster/secure_channel.hpp"
#include "wire/outbox.hpp"

#include <boost/asio/ssl.hpp>

#include <span>
#include <vector>

namespace headway::cluster {

class TlsChannel : public SecureChannel, public std::enable_shared_from_this<TlsChannel> {
 public:
  TlsChannel(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> context,
             std::span<const wire::Carried> kinds);

  /// The TLS handshake, which may take 10 s; false when there was none.
  boost::asio::awaitable<bool> shake_hands(boost::asio::ssl::stream_base::handshake_type type);

  void start(FrameHandler on_frame, ClosedHandler on_closed) override;
  void hand_over(FrameHandler on_frame, ClosedHandler on_closed) override;
  void send(wire::Frame frame) override;
  void send_ahead(wire::Frame frame) override;
  void finish() override;
  void close() override;
  std::size_t queued_bytes() const override { return queued_; }
  void on_drained(std::function<void()> drained) override;
  void trust() override;
  bool unproven() const override { return !trusted_ && !closed_; }
  /// Called when this is no stranger any more: it is trusted, or has ended.
  void on_known(std::function<void()> known) { known_ = std::move(known); }
  void end_when_unreachable(std::chrono::seconds limit) override;
  const std::string& binding() const override { return binding_; }
  std::string remote_ip() const override { return remote_ip_; }

 private:
  void queue(wire::Frame frame, wire::Outbox& outbox);
  void end(std::optional<Error> error);
  void end_of_reading(const boost::system::error_code& failure);

  boost::asio::awaitable<void> read_loop();
  boost::asio::awaitable<std::size_t> read_some();

  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<bool> write_stream(std::string_view bytes);
  boost::asio::awaitable<bool> write_ahead();
  boost::asio::awaitable<bool> write_part(std::string_view bytes, bool ahead);
  std::size_t gather(wire::Blob& long_part);

  std::shared_ptr<boost::asio::ssl::context> context_;
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
  /// Never expires; cancelled when there is something to write.
  boost::asio::steady_timer wakeup_;
  PartReader reader_;
  std::vector<char> inbox_;  ///< Empty until the channel is started.
  std::span<char> arrived_;  ///< What of it has not been read yet.
  wire::Outbox outbox_;
  wire::Outbox ahead_;
  std::string gathered_;  ///< Frames that leave together.
  std::string part_;      ///< What is being written.
  std::size_t queued_ = 0;
  bool was_full_ = false;
  bool trusted_ = false;
  bool finishing_ = false;
  bool unsendable_ = false;  ///< Nothing more is queued: the channel is about to end.
  bool closed_ = false;
  // Shared with the loops while they run: each may end this channel.
  std::shared_ptr<const FrameHandler> on_frame_;
  ClosedHandler on_closed_;
  std::shared_ptr<const std::function<void()>> drained_;
  std::function<void()> known_;
  std::string binding_;
  std::string remote_ip_;
};

}  // namespace headway::cluster
