#include "cluster/tls_channel.hpp"

#include "wire/spawn.hpp"

#include <algorithm>
#include <array>
#include <netinet/tcp.h>

namespace headway::cluster {

namespace asio = boost::asio;
using asio::as_tuple;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

constexpr auto handshake_limit = std::chrono::seconds(10);
constexpr std::size_t record_bytes = 16 << 10;  ///< What TLS gives at once.

/// What the kernel takes and has not sent yet. More of it would only be ahead of what is to leave
/// first.
using UnsentMax = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;

std::size_t size_of(const wire::Frame& frame) {
  const wire::FrameHeader header = wire::header_of(frame);
  return sizeof(header) + header.json_size + header.blob_size;
}

}  // namespace

TlsChannel::TlsChannel(tcp::socket socket, std::shared_ptr<asio::ssl::context> context,
                       std::span<const wire::Carried> kinds)
    : context_(std::move(context)),
      stream_(std::move(socket), *context_),
      wakeup_(stream_.get_executor(), asio::steady_timer::time_point::max()),
      reader_(kinds) {
  boost::system::error_code ignored;
  stream_.lowest_layer().set_option(tcp::no_delay(true), ignored);
  stream_.lowest_layer().set_option(UnsentMax(part_bytes), ignored);
}

asio::awaitable<bool> TlsChannel::shake_hands(asio::ssl::stream_base::handshake_type type) {
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

void TlsChannel::hand_over(FrameHandler on_frame, ClosedHandler on_closed) {
  on_frame_ = on_frame ? std::make_shared<const FrameHandler>(std::move(on_frame)) : nullptr;
  on_closed_ = std::move(on_closed);
}

void TlsChannel::on_drained(std::function<void()> drained) {
  drained_ = std::make_shared<const std::function<void()>>(std::move(drained));
}

void TlsChannel::trust() {
  trusted_ = true;
  reader_.trust();
  if (const auto known = std::exchange(known_, nullptr)) known();
}

/// The kernel asks after a quarter of the limit of silence, and then thrice.
void TlsChannel::end_when_unreachable(std::chrono::seconds limit) {
  using KeepIdle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
  using KeepInterval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
  using KeepCount = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
  using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  constexpr int questions = 3;
  const int seconds = static_cast<int>(limit.count());
  const int quarter = std::max(seconds / (questions + 1), 1);
  boost::system::error_code ignored;
  auto& socket = stream_.lowest_layer();
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(KeepIdle(quarter), ignored);
  socket.set_option(KeepInterval(quarter), ignored);
  socket.set_option(KeepCount(questions), ignored);
  socket.set_option(UserTimeout(seconds * 1000), ignored);
}

void TlsChannel::start(FrameHandler on_frame, ClosedHandler on_closed) {
  hand_over(std::move(on_frame), std::move(on_closed));
  inbox_.resize(record_bytes);
  auto self = shared_from_this();
  const auto fail = [self](const Error& error) { self->end(error); };
  wire::spawn(stream_.get_executor(), [self] { return self->read_loop(); }, fail);
  wire::spawn(stream_.get_executor(), [self] { return self->write_loop(); }, fail);
}

void TlsChannel::send(wire::Frame frame) { queue(std::move(frame), outbox_); }

void TlsChannel::send_ahead(wire::Frame frame) {
  const bool fits = size_of(frame) <= part_bytes;
  queue(std::move(frame), fits ? ahead_ : outbox_);
}

void TlsChannel::finish() {
  finishing_ = true;
  wakeup_.cancel();
}

void TlsChannel::close() {
  on_closed_ = nullptr;
  end(std::nullopt);
}

void TlsChannel::queue(wire::Frame frame, wire::Outbox& outbox) {
  if (closed_ || finishing_ || unsendable_) return;
  const std::size_t size = size_of(frame);
  if (auto queued = outbox.push(std::move(frame)); !queued) {
    unsendable_ = true;
    // Not at once: the caller does not expect its owner to hear of the end meanwhile.
    asio::post(stream_.get_executor(), [weak = weak_from_this(), error = queued.error()] {
      if (const auto self = weak.lock()) self->end(error);
    });
    return;
  }
  queued_ += size;
  was_full_ |= queued_ > drain_bytes;
  wakeup_.cancel();
}

/// The socket goes at once: TLS's own farewell could wait for a peer that is not there.
void TlsChannel::end(std::optional<Error> error) {
  if (std::exchange(closed_, true)) return;
  boost::system::error_code ignored;
  stream_.lowest_layer().close(ignored);
  wakeup_.cancel();
  outbox_.clear();
  ahead_.clear();
  queued_ = 0;
  on_frame_ = nullptr;
  drained_ = nullptr;
  if (const auto known = std::exchange(known_, nullptr)) known();
  if (auto on_closed = std::exchange(on_closed_, nullptr)) on_closed(std::move(error));
}

void TlsChannel::end_of_reading(const boost::system::error_code& failure) {
  const bool gone = failure == asio::error::eof || failure == asio::ssl::error::stream_truncated;
  if (gone && !reader_.in_frame()) {
    end(std::nullopt);
  } else {
    end(Error{ErrorKind::unknown_outcome, gone ? "the peer is gone in the middle of a message" : failure.message()});
  }
}

/// From what has arrived already, else from the connection. Many small messages come with one
/// reading of it. 0 when the channel has ended.
asio::awaitable<std::size_t> TlsChannel::read_some() {
  const std::span<char> space = reader_.space();
  // What is long goes straight to its place.
  const bool direct = arrived_.empty() && space.size() >= inbox_.size();
  if (direct || arrived_.empty()) {
    const std::span<char> place = direct ? space : std::span<char>(inbox_);
    auto [failure, count] =
        co_await stream_.async_read_some(asio::buffer(place.data(), place.size()), as_tuple(use_awaitable));
    if (failure) end_of_reading(failure);
    if (failure || closed_) co_return 0;
    if (direct) co_return count;
    arrived_ = place.first(count);
  }
  const std::size_t count = std::min(space.size(), arrived_.size());
  std::copy_n(arrived_.begin(), count, space.begin());
  arrived_ = arrived_.subspan(count);
  co_return count;
}

asio::awaitable<void> TlsChannel::read_loop() {
  auto self = shared_from_this();
  while (!closed_) {
    const std::size_t count = co_await read_some();
    if (count == 0) co_return;
    Result<std::optional<wire::Frame>> frame = reader_.take(count);
    if (!frame) {
      end(frame.error());
    } else if (const auto on_frame = on_frame_; *frame && on_frame) {
      if (auto heard = (*on_frame)(std::move(**frame)); !heard) end(heard.error());
    }
  }
}

asio::awaitable<bool> TlsChannel::write_part(std::string_view bytes, bool ahead) {
  part_.clear();
  const PartHeader header{static_cast<std::uint32_t>(bytes.size()), ahead ? 1U : 0U};
  part_.append(reinterpret_cast<const char*>(&header), sizeof(header));
  part_ += bytes;
  auto [failure, count] = co_await asio::async_write(stream_, asio::buffer(part_), as_tuple(use_awaitable));
  co_return !failure && !closed_;
}

asio::awaitable<bool> TlsChannel::write_ahead() {
  while (!ahead_.empty()) {
    const wire::Frame frame = ahead_.pop();
    queued_ -= size_of(frame);
    std::string bytes = wire::head_of(frame);
    if (frame.blob) bytes += *frame.blob;
    if (!co_await write_part(bytes, true)) co_return false;
  }
  co_return true;
}

asio::awaitable<bool> TlsChannel::write_stream(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!co_await write_ahead()) co_return false;
    const std::string_view part = bytes.substr(0, part_bytes);
    bytes.remove_prefix(part.size());
    if (!co_await write_part(part, false)) co_return false;
  }
  co_return true;
}

/// Takes frames from the queue into `gathered_`, until it fills a part; the last
/// one's raw part, when it is long, is left to be written as it is. The bytes of all of them.
std::size_t TlsChannel::gather(wire::Blob& long_part) {
  std::size_t taken = 0;
  gathered_.clear();
  while (!outbox_.empty() && !long_part && gathered_.size() < part_bytes) {
    const wire::Frame frame = outbox_.pop();
    taken += size_of(frame);
    gathered_ += wire::head_of(frame);
    if (!frame.blob) continue;
    if (frame.blob->size() < part_bytes) {
      gathered_ += *frame.blob;
    } else {
      long_part = frame.blob;
    }
  }
  return taken;
}

asio::awaitable<void> TlsChannel::write_loop() {
  auto self = shared_from_this();
  while (!closed_) {
    if (outbox_.empty() && ahead_.empty()) {
      if (finishing_) {
        end(std::nullopt);
        co_return;
      }
      co_await wakeup_.async_wait(as_tuple(use_awaitable));
      continue;
    }
    wire::Blob long_part;
    const std::size_t taken = gather(long_part);
    bool sent = co_await write_stream(gathered_);
    if (sent && long_part) sent = co_await write_stream(*long_part);
    if (sent) sent = co_await write_ahead();
    if (!sent) {
      end(Error{ErrorKind::unknown_outcome, "the peer takes nothing any more"});
      co_return;
    }
    queued_ -= taken;
    if (was_full_ && queued_ < drain_bytes / 2) {
      was_full_ = false;
      if (const auto drained = drained_) (*drained)();
    }
  }
}

}  // namespace headway::cluster
