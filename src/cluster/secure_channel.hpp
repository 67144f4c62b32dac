#pragma once

#include "wire/frame.hpp"

#include <boost/asio.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Frames between machines: TLS over TCP, and a token that each side proves to have. The server's
/// certificate is made when it starts, and nobody vouches for it; instead each side's proof is
/// bound to the very TLS session (RFC 5705, RFC 9266), so that one who sits between them and has no
/// token can pass none on.
namespace headway::cluster {

/// Whether this build can (it was made with OpenSSL); else why not.
Result<void> check_available();

/// Frames over one connection, on an event loop's one thread. It lives as long as its loops run or
/// its owner holds it.
class SecureChannel {
 public:
  /// An error ends the connection with it.
  using FrameHandler = std::function<Result<void>(wire::Frame)>;
  /// Called once, when the connection has ended: nullopt for an orderly end, else what broke. Not
  /// for `close`.
  using ClosedHandler = std::function<void(std::optional<Error>)>;

  virtual ~SecureChannel() = default;

  virtual void start(FrameHandler on_frame, ClosedHandler on_closed) = 0;
  /// From now on others hear; either may be empty.
  virtual void hand_over(FrameHandler on_frame, ClosedHandler on_closed) = 0;
  /// Queues a frame; frames leave in order. Dropped after the end. One that cannot be sent ends the
  /// connection a moment later.
  virtual void send(wire::Frame frame) = 0;
  /// The same, before all that is queued and between the parts of what is long: it waits for 64 KiB
  /// at most. One that is longer than that itself takes its turn.
  virtual void send_ahead(wire::Frame frame) = 0;
  /// Sends what is queued, then ends the connection.
  virtual void finish() = 0;
  /// Ends it now; what is queued is dropped.
  virtual void close() = 0;

  /// Bytes that are queued; `on_drained` is called when, having been above `drain_bytes`, they are
  /// below half of it.
  virtual std::size_t queued_bytes() const = 0;
  virtual void on_drained(std::function<void()> drained) = 0;
  static constexpr std::size_t drain_bytes = std::size_t{8} << 20;

  /// Until this is called, frames of more than 64 KiB end the connection: who is not known yet gets
  /// no memory.
  virtual void trust() = 0;
  /// Whether the connection lives and `trust` was not called.
  virtual bool unproven() const = 0;

  /// From now on the connection ends with an error when nothing of its other end has come for about
  /// `limit`, not even the kernel's signs of life: there is no other sign that a machine is cut
  /// off. (The driver and its agents have a lease instead.)
  virtual void end_when_unreachable(std::chrono::seconds limit) = 0;

  /// What only these two ends of this session know.
  virtual const std::string& binding() const = 0;
  virtual std::string remote_ip() const = 0;
};

/// What `role` ("driver", "agent") shows to prove that it has the token: HMAC-SHA256 over its name
/// and the binding, in hex.
std::string proof_of(const std::string& token, std::string_view role, const std::string& binding);

/// Whether two proofs are the same; takes as long wherever they differ.
bool is_same_proof(const std::string& one, const std::string& other);

/// Waits for connections. Ends with this object; channels that it gave live on.
class SecureListener {
 public:
  using Accepted = std::function<void(std::shared_ptr<SecureChannel>)>;
  /// Why nobody can connect at the moment, such as that there are no descriptors left. Once, until
  /// somebody can again.
  using Trouble = std::function<void(const std::string& why)>;

  virtual ~SecureListener() = default;

  /// Listens at `host` (a numeric address) and `port` (0: any that is free) for peers that send
  /// messages of `kinds`. At most 64 connections are unproven (SecureChannel::unproven) at a time,
  /// others wait, and late ones are closed for them; a handshake may take 10 s.
  /// Errors: `unavailable` (the port is taken, no OpenSSL), `invalid_argument` (no such address).
  static Result<std::unique_ptr<SecureListener>> open(boost::asio::io_context& loop, const std::string& host,
                                                      std::uint16_t port, std::span<const wire::Carried> kinds,
                                                      Accepted accepted, Trouble trouble);
  virtual std::uint16_t port() const = 0;
};

/// Connects within `limit` to a peer that sends messages of `kinds`. Errors: `unavailable`, with
/// what was tried.
void connect(boost::asio::io_context& loop, const std::string& host, std::uint16_t port,
             std::chrono::milliseconds limit, std::span<const wire::Carried> kinds,
             std::function<void(Result<std::shared_ptr<SecureChannel>>)> connected);

/// "host:port" or "[v6]:port". Errors: `invalid_argument`, naming `argument`.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};
Result<Endpoint> parse_endpoint(const std::string& argument, const std::string& text);

/// The address by which other machines reach this one: that of the route to the outside, else
/// 127.0.0.1.
std::string own_ip();

}  // namespace headway::cluster
