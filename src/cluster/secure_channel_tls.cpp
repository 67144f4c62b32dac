#include "cluster/secure_channel.hpp"
#include "cluster/tls_context.hpp"

#include <boost/asio/ssl.hpp>
#include <openssl/hmac.h>

#include <array>
#include <deque>
#include <netinet/tcp.h>
#include <span>

namespace headway::cluster {

namespace asio = boost::asio;
using asio::as_tuple;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

constexpr auto handshake_limit = std::chrono::seconds(10);
constexpr std::uint64_t stranger_bytes_max = 64 << 10;
constexpr std::size_t record_bytes = 16 << 10;  ///< What TLS gives at once.
constexpr std::size_t batch_bytes = 64 << 10;   ///< Of messages that leave together.

/// What the kernel takes and has not sent yet. More of it would only be ahead of what is to leave first.
using UnsentMax = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;

class TlsChannel : public SecureChannel, public std::enable_shared_from_this<TlsChannel> {
 public:
  TlsChannel(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)),
        stream_(std::move(socket), *context_),
        wakeup_(stream_.get_executor(), asio::steady_timer::time_point::max()) {
    boost::system::error_code ignored;
    stream_.lowest_layer().set_option(tcp::no_delay(true), ignored);
    stream_.lowest_layer().set_option(UnsentMax(batch_bytes), ignored);
  }

  /// The TLS handshake; false when there was none.
  asio::awaitable<bool> shake_hands(asio::ssl::stream_base::handshake_type type) {
    asio::steady_timer limit(stream_.get_executor(), handshake_limit);
    limit.async_wait([weak = weak_from_this()](const boost::system::error_code& failure) {
      const auto self = weak.lock();
      if (!failure && self) self->close();
    });
    auto [failure] = co_await stream_.async_handshake(type, as_tuple(use_awaitable));
    limit.cancel();
    if (failure || closed_) co_return false;
    std::array<unsigned char, 32> secret{};
    constexpr std::string_view label = "EXPORTER-headway-join";
    if (SSL_export_keying_material(stream_.native_handle(), secret.data(), secret.size(), label.data(), label.size(),
                                   nullptr, 0, 0) != 1) {
      co_return false;
    }
    binding_.assign(secret.begin(), secret.end());
    boost::system::error_code ignored;
    remote_ip_ = stream_.lowest_layer().remote_endpoint(ignored).address().to_string();
    co_return true;
  }

  void hand_over(FrameHandler on_frame, ClosedHandler on_closed) override {
    on_frame_ = std::move(on_frame);
    on_closed_ = std::move(on_closed);
  }

  void start(FrameHandler on_frame, ClosedHandler on_closed) override {
    hand_over(std::move(on_frame), std::move(on_closed));
    auto self = shared_from_this();
    asio::co_spawn(stream_.get_executor(), [self] { return self->read_loop(); }, asio::detached);
    asio::co_spawn(stream_.get_executor(), [self] { return self->write_loop(); }, asio::detached);
  }

  void send(wire::Frame frame) override { queue(std::move(frame), outbox_.end()); }
  void send_ahead(wire::Frame frame) override { queue(std::move(frame), outbox_.begin()); }

  void finish() override {
    finishing_ = true;
    wakeup_.cancel();
  }

  void close() override {
    on_closed_ = nullptr;
    end(std::nullopt);
  }

  std::size_t queued_bytes() const override { return queued_; }
  void on_drained(std::function<void()> drained) override { drained_ = std::move(drained); }
  void trust() override { trusted_ = true; }
  const std::string& binding() const override { return binding_; }
  std::string remote_ip() const override { return remote_ip_; }

 private:
  static std::size_t size_of(const wire::Frame& frame) {
    return sizeof(wire::FrameHeader) + frame.json.size() + (frame.blob ? frame.blob->size() : 0);
  }

  void queue(wire::Frame frame, std::deque<wire::Frame>::const_iterator place) {
    if (closed_ || finishing_ || !frame.fds.empty() || !wire::check_header(wire::header_of(frame))) return;
    queued_ += size_of(frame);
    was_full_ |= queued_ > drain_bytes;
    outbox_.insert(place, std::move(frame));
    wakeup_.cancel();
  }

  /// The socket goes at once: TLS's own farewell could wait for a peer that is not there.
  void end(std::optional<Error> error) {
    if (std::exchange(closed_, true)) return;
    boost::system::error_code ignored;
    stream_.lowest_layer().close(ignored);
    wakeup_.cancel();
    outbox_.clear();
    queued_ = 0;
    on_frame_ = nullptr;
    drained_ = nullptr;
    if (auto on_closed = std::exchange(on_closed_, nullptr)) on_closed(std::move(error));
  }

  /// From what has arrived already, else from the connection. Many small messages come with one reading of it.
  asio::awaitable<bool> read_exactly(std::span<char> bytes, bool may_end) {
    const bool at_start = may_end && arrived_.empty();
    while (true) {
      const std::size_t there = std::min(bytes.size(), arrived_.size());
      std::copy_n(arrived_.begin(), there, bytes.begin());
      arrived_ = arrived_.subspan(there);
      bytes = bytes.subspan(there);
      if (bytes.empty()) co_return true;
      // What is long goes straight to its place.
      const bool direct = bytes.size() >= inbox_.size();
      const std::span<char> place = direct ? bytes : std::span<char>(inbox_);
      auto [failure, count] =
          co_await stream_.async_read_some(asio::buffer(place.data(), place.size()), as_tuple(use_awaitable));
      if (failure) {
        end_of_reading(failure, at_start && there == 0);
        co_return false;
      }
      if (direct) {
        bytes = bytes.subspan(count);
      } else {
        arrived_ = place.first(count);
      }
    }
  }

  void end_of_reading(const boost::system::error_code& failure, bool between_messages) {
    const bool gone = failure == asio::error::eof || failure == asio::ssl::error::stream_truncated;
    if (gone && between_messages) {
      end(std::nullopt);
    } else {
      end(Error{ErrorKind::unknown_outcome, gone ? "the peer is gone in the middle of a message" : failure.message()});
    }
  }

  Result<void> check(const wire::FrameHeader& header) const {
    if (!trusted_ && header.json_size + header.blob_size > stranger_bytes_max)
      return Error{ErrorKind::corrupted, "a message that is too long from one who is not known"};
    if (header.fd_count > 0) return Error{ErrorKind::corrupted, "a message with descriptors"};
    return wire::check_header(header);
  }

  asio::awaitable<void> read_loop() {
    auto self = shared_from_this();
    while (!closed_) {
      wire::FrameHeader header;
      std::span<char> head(reinterpret_cast<char*>(&header), sizeof(header));
      if (!co_await read_exactly(head, true)) co_return;
      if (auto sound = check(header); !sound) {
        end(sound.error());
        co_return;
      }
      wire::Frame frame;
      frame.json.resize(header.json_size);
      if (!co_await read_exactly(frame.json, false)) co_return;
      if (header.blob_size > 0) {
        std::string blob(header.blob_size, '\0');
        if (!co_await read_exactly(blob, false)) co_return;
        frame.blob = std::make_shared<const std::string>(std::move(blob));
      }
      // A copy: it may close this channel, and so end itself.
      if (auto on_frame = on_frame_) on_frame(std::move(frame));
    }
  }

  asio::awaitable<bool> write_all(std::string_view bytes) {
    auto [failure, count] =
        co_await asio::async_write(stream_, asio::buffer(bytes.data(), bytes.size()), as_tuple(use_awaitable));
    co_return !failure && !closed_;
  }

  /// Takes frames from the queue into `gathered_`, until it is worth a writing of its own; the last one's raw part, when it is long, is
  /// left to be written as it is. The bytes of all of them.
  std::size_t gather(wire::Blob& long_part) {
    std::size_t taken = 0;
    gathered_.clear();
    while (!outbox_.empty() && !long_part && gathered_.size() < batch_bytes) {
      const wire::Frame frame = std::move(outbox_.front());
      outbox_.pop_front();
      taken += size_of(frame);
      const wire::FrameHeader header = wire::header_of(frame);
      gathered_.append(reinterpret_cast<const char*>(&header), sizeof(header));
      gathered_ += frame.json;
      if (!frame.blob) continue;
      if (frame.blob->size() < batch_bytes) {
        gathered_ += *frame.blob;
      } else {
        long_part = frame.blob;
      }
    }
    return taken;
  }

  asio::awaitable<void> write_loop() {
    auto self = shared_from_this();
    while (!closed_) {
      if (outbox_.empty()) {
        if (finishing_) {
          end(std::nullopt);
          co_return;
        }
        co_await wakeup_.async_wait(as_tuple(use_awaitable));
        continue;
      }
      wire::Blob long_part;
      const std::size_t taken = gather(long_part);
      bool sent = co_await write_all(gathered_);
      if (sent && long_part) sent = co_await write_all(*long_part);
      if (!sent) {
        end(Error{ErrorKind::unknown_outcome, "the peer takes nothing any more"});
        co_return;
      }
      queued_ -= taken;
      if (was_full_ && queued_ < drain_bytes / 2) {
        was_full_ = false;
        if (auto drained = drained_) drained();
      }
    }
  }

  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<tcp::socket> stream_;
  asio::steady_timer wakeup_;  ///< Never expires; cancelled when there is something to write.
  std::vector<char> inbox_ = std::vector<char>(record_bytes);
  std::span<char> arrived_;  ///< What of it has not been read yet.
  std::deque<wire::Frame> outbox_;
  std::string gathered_;  ///< Frames that leave together.
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

class TlsListener : public SecureListener {
 public:
  TlsListener(tcp::acceptor acceptor, std::shared_ptr<asio::ssl::context> context, Accepted accepted)
      : state_(std::make_shared<State>(State{std::move(acceptor), std::move(context), std::move(accepted)})) {
    asio::co_spawn(state_->acceptor.get_executor(), accept_loop(state_), asio::detached);
  }
  ~TlsListener() override {
    boost::system::error_code ignored;
    state_->acceptor.close(ignored);
    state_->accepted = nullptr;
  }
  std::uint16_t port() const override {
    boost::system::error_code ignored;
    return state_->acceptor.local_endpoint(ignored).port();
  }

 private:
  struct State {
    tcp::acceptor acceptor;
    std::shared_ptr<asio::ssl::context> context;
    Accepted accepted;
  };

  static asio::awaitable<void> accept_loop(std::shared_ptr<State> state) {
    while (state->acceptor.is_open()) {
      auto [failure, socket] = co_await state->acceptor.async_accept(as_tuple(use_awaitable));
      if (failure == asio::error::operation_aborted || !state->acceptor.is_open()) co_return;
      if (failure) {
        // No descriptors left, for example: a moment later there may be.
        asio::steady_timer pause(state->acceptor.get_executor(), std::chrono::milliseconds(200));
        co_await pause.async_wait(as_tuple(use_awaitable));
        continue;
      }
      auto channel = std::make_shared<TlsChannel>(std::move(socket), state->context);
      asio::co_spawn(state->acceptor.get_executor(), welcome(state, std::move(channel)), asio::detached);
    }
  }

  static asio::awaitable<void> welcome(std::shared_ptr<State> state, std::shared_ptr<TlsChannel> channel) {
    const bool done = co_await channel->shake_hands(asio::ssl::stream_base::server);
    if (done && state->accepted) {
      state->accepted(channel);
    } else {
      channel->close();
    }
  }

  std::shared_ptr<State> state_;
};

using Connected = std::function<void(Result<std::shared_ptr<SecureChannel>>)>;

asio::awaitable<void> connect_and_tell(asio::io_context& loop, std::string host, std::uint16_t port,
                                       std::chrono::milliseconds limit, Connected connected) {
  const auto failed = [&](const std::string& why) {
    connected(Error{ErrorKind::unavailable, "cannot connect to " + host + ":" + std::to_string(port) + ": " + why});
  };
  tcp::resolver resolver(loop);
  const std::string service = std::to_string(port);
  auto [unresolved, endpoints] = co_await resolver.async_resolve(host, service, as_tuple(use_awaitable));
  if (unresolved) {
    failed(unresolved.message());
    co_return;
  }
  tcp::socket socket(loop);
  asio::steady_timer patience(loop, limit);
  bool late = false;
  patience.async_wait([&](const boost::system::error_code& failure) {
    if (failure) return;
    late = true;
    boost::system::error_code ignored;
    socket.close(ignored);
  });
  auto [refused, endpoint] = co_await asio::async_connect(socket, endpoints, as_tuple(use_awaitable));
  patience.cancel();
  // The timer's handler, should it be on its way, must not outlive what it refers to.
  co_await asio::post(loop, use_awaitable);
  if (refused || late) {
    failed(late ? "nobody answers" : refused.message());
    co_return;
  }
  auto channel = std::make_shared<TlsChannel>(std::move(socket), client_context());
  if (!co_await channel->shake_hands(asio::ssl::stream_base::client)) {
    channel->close();
    failed("it does not speak TLS as a Headway driver does");
    co_return;
  }
  connected(std::shared_ptr<SecureChannel>(channel));
}

}  // namespace

Result<void> check_available() { return {}; }

std::string proof_of(const std::string& token, std::string_view role, const std::string& binding) {
  const std::string text = std::string(role) + ":" + binding;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest.data(), &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[digest[i] >> 4];
    hex += digits[digest[i] & 15];
  }
  return hex;
}

bool is_same_proof(const std::string& one, const std::string& other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Result<std::unique_ptr<SecureListener>> SecureListener::open(asio::io_context& loop, const std::string& host,
                                                             std::uint16_t port, Accepted accepted) {
  boost::system::error_code failure;
  const auto address = asio::ip::make_address(host, failure);
  if (failure) {
    return Error{ErrorKind::invalid_argument,
                 "listen names the host '" + host + "'; allowed: an address of this machine, such as 0.0.0.0"};
  }
  const tcp::endpoint endpoint(address, port);
  tcp::acceptor acceptor(loop);
  acceptor.open(endpoint.protocol(), failure);
  if (!failure) acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure) acceptor.bind(endpoint, failure);
  if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) {
    return Error{ErrorKind::unavailable,
                 "cannot listen at " + host + ":" + std::to_string(port) + ": " + failure.message()};
  }
  auto context = server_context();
  if (!context) return context.error();
  return std::unique_ptr<SecureListener>(
      std::make_unique<TlsListener>(std::move(acceptor), std::move(*context), std::move(accepted)));
}

void connect(asio::io_context& loop, const std::string& host, std::uint16_t port, std::chrono::milliseconds limit,
             Connected connected) {
  asio::co_spawn(loop, connect_and_tell(loop, host, port, limit, std::move(connected)), asio::detached);
}

}  // namespace headway::cluster
