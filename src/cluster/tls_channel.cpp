#include "cluster/tls_channel.hpp"

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
constexpr std::uint64_t stranger_bytes_max = 64 << 10;
constexpr std::size_t record_bytes = 16 << 10;  ///< What TLS gives at once.

/// What the kernel takes and has not sent yet. More of it would only be ahead of what is to leave first.
using UnsentMax = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;

std::size_t size_of(const wire::Frame& frame) {
  return sizeof(wire::FrameHeader) + frame.json.size() + (frame.blob ? frame.blob->size() : 0);
}

void append(std::string& bytes, const auto& header) {
  bytes.append(reinterpret_cast<const char*>(&header), sizeof(header));
}

}  // namespace

TlsChannel::TlsChannel(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
    : context_(std::move(context)),
      stream_(std::move(socket), *context_),
      wakeup_(stream_.get_executor(), asio::steady_timer::time_point::max()),
      inbox_(record_bytes) {
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
  on_frame_ = std::move(on_frame);
  on_closed_ = std::move(on_closed);
}

void TlsChannel::start(FrameHandler on_frame, ClosedHandler on_closed) {
  hand_over(std::move(on_frame), std::move(on_closed));
  auto self = shared_from_this();
  asio::co_spawn(stream_.get_executor(), [self] { return self->read_loop(); }, asio::detached);
  asio::co_spawn(stream_.get_executor(), [self] { return self->write_loop(); }, asio::detached);
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

void TlsChannel::queue(wire::Frame frame, std::deque<wire::Frame>& outbox) {
  if (closed_ || finishing_ || !frame.fds.empty() || !wire::check_header(wire::header_of(frame))) return;
  queued_ += size_of(frame);
  was_full_ |= queued_ > drain_bytes;
  outbox.push_back(std::move(frame));
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
  if (auto on_closed = std::exchange(on_closed_, nullptr)) on_closed(std::move(error));
}

void TlsChannel::end_of_reading(const boost::system::error_code& failure, bool between_messages) {
  const bool gone = failure == asio::error::eof || failure == asio::ssl::error::stream_truncated;
  if (gone && between_messages) {
    end(std::nullopt);
  } else {
    end(Error{ErrorKind::unknown_outcome, gone ? "the peer is gone in the middle of a message" : failure.message()});
  }
}

/// From what has arrived already, else from the connection. Many small messages come with one reading of it.
asio::awaitable<bool> TlsChannel::read_exactly(std::span<char> bytes, bool may_end) {
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

/// Up to the next bytes of the stream; what is ahead of them is heard on the way.
asio::awaitable<bool> TlsChannel::begin_part(bool may_end) {
  while (part_left_ == 0) {
    PartHeader part;
    const std::span<char> head(reinterpret_cast<char*>(&part), sizeof(part));
    if (!co_await read_exactly(head, may_end)) co_return false;
    if (part.size == 0 || part.size > part_bytes || part.ahead > 1) {
      end(Error{ErrorKind::corrupted, "a part of a message that is beyond the bounds"});
      co_return false;
    }
    if (part.ahead == 0) {
      part_left_ = part.size;
    } else {
      ahead_left_ = part.size;
      if (!co_await hear_frame(true)) co_return false;
    }
  }
  co_return true;
}

asio::awaitable<bool> TlsChannel::read_stream(std::span<char> bytes, bool may_end) {
  while (!bytes.empty()) {
    if (!co_await begin_part(may_end)) co_return false;
    may_end = false;
    const std::size_t count = std::min(bytes.size(), part_left_);
    if (!co_await read_exactly(bytes.first(count), false)) co_return false;
    part_left_ -= count;
    bytes = bytes.subspan(count);
  }
  co_return true;
}

asio::awaitable<bool> TlsChannel::read(std::span<char> bytes, bool ahead, bool may_end) {
  return ahead ? read_exactly(bytes, false) : read_stream(bytes, may_end);
}

Result<void> TlsChannel::check(const wire::FrameHeader& header, bool ahead) const {
  const std::uint64_t size = header.json_size + header.blob_size;
  if (!trusted_ && size > stranger_bytes_max)
    return Error{ErrorKind::corrupted, "a message that is too long from one who is not known"};
  if (header.fd_count > 0) return Error{ErrorKind::corrupted, "a message with descriptors"};
  if (ahead && sizeof(header) + size != ahead_left_)
    return Error{ErrorKind::corrupted, "a message ahead of others that is not whole"};
  return wire::check_header(header);
}

/// Reads one frame and hands it on; false when the connection is over.
asio::awaitable<bool> TlsChannel::hear_frame(bool ahead) {
  wire::FrameHeader header;
  const std::span<char> head(reinterpret_cast<char*>(&header), sizeof(header));
  if (!co_await read(head, ahead, true)) co_return false;
  if (auto sound = check(header, ahead); !sound) {
    end(sound.error());
    co_return false;
  }
  wire::Frame frame;
  frame.json.resize(header.json_size);
  if (!co_await read(frame.json, ahead, false)) co_return false;
  if (header.blob_size > 0) {
    std::string blob(header.blob_size, '\0');
    if (!co_await read(blob, ahead, false)) co_return false;
    frame.blob = std::make_shared<const std::string>(std::move(blob));
  }
  // A copy: it may close this channel, and so end itself.
  if (auto on_frame = on_frame_) on_frame(std::move(frame));
  co_return !closed_;
}

asio::awaitable<void> TlsChannel::read_loop() {
  auto self = shared_from_this();
  while (co_await hear_frame(false)) {
  }
}

asio::awaitable<bool> TlsChannel::write_part(std::string_view bytes, bool ahead) {
  part_.clear();
  append(part_, PartHeader{static_cast<std::uint32_t>(bytes.size()), ahead ? 1U : 0U});
  part_ += bytes;
  auto [failure, count] = co_await asio::async_write(stream_, asio::buffer(part_), as_tuple(use_awaitable));
  co_return !failure && !closed_;
}

asio::awaitable<bool> TlsChannel::write_ahead() {
  while (!ahead_.empty()) {
    const wire::Frame frame = std::move(ahead_.front());
    ahead_.pop_front();
    queued_ -= size_of(frame);
    std::string bytes;
    append(bytes, wire::header_of(frame));
    bytes += frame.json;
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

/// Takes frames from the queue into `gathered_`, until it is worth a part of its own; the last one's raw part, when it is long, is
/// left to be written as it is. The bytes of all of them.
std::size_t TlsChannel::gather(wire::Blob& long_part) {
  std::size_t taken = 0;
  gathered_.clear();
  while (!outbox_.empty() && !long_part && gathered_.size() < part_bytes) {
    const wire::Frame frame = std::move(outbox_.front());
    outbox_.pop_front();
    taken += size_of(frame);
    append(gathered_, wire::header_of(frame));
    gathered_ += frame.json;
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
      if (auto drained = drained_) drained();
    }
  }
}

}  // namespace headway::cluster
