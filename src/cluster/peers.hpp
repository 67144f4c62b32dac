#pragma once

#include "cluster/agent_messages.hpp"
#include "cluster/secure_channel.hpp"

#include <variant>

/// Channels between the helper processes of one driver, whichever nodes they run on. What travels
/// there never passes through the driver. As between nodes, TLS hides it, and each end proves that
/// it has the token: here the one that the driver gave to all its helpers with
/// wire::StartSession::peer_token, or one that their role names.
///
///     // In one process; the address travels in a message of the role.
///     auto desk = PeerDesk::open(loop, {own_ip(), 0}, {"reader 1", token}, peer_messages<Blocks>, met);
///     send_to_driver(Listening{desk->endpoint()});
///     // In the other one.
///     connect_to_peer(loop, endpoint, {"reader 2", token}, limit, peer_messages<Blocks>, connected);
namespace headway::cluster {

/// The first message of the process that calls …
struct Greet {
  static constexpr std::string_view is = "Greet";
  std::string name;
  std::string proof;
};
BOOST_DESCRIBE_STRUCT(Greet, (), (name, proof))

/// … and the answer, unless it is Refused.
struct Greeted {
  static constexpr std::string_view is = "Greeted";
  std::string proof;
};
BOOST_DESCRIBE_STRUCT(Greeted, (), (proof))

template <class Variant>
struct PeerMessages;
template <class... Messages>
struct PeerMessages<std::variant<Messages...>> {
  using Any = std::variant<Greet, Greeted, Refused, Messages...>;
};

/// What a channel between peers carries that exchange the messages of `Variant`.
template <class Variant>
inline constexpr auto peer_messages = wire::messages_of<typename PeerMessages<Variant>::Any>;

/// 32 hexadecimal digits at random: by it processes know each other.
std::string new_peer_token();

/// A helper process, as its peers know it.
struct PeerIdentity {
  std::string name;   ///< For people: "reader 2 on node-1".
  std::string token;  ///< wire::StartSession::peer_token, or the role's.
};

/// Where peers come in. Ends with this object; channels that it gave live on.
class PeerDesk {
 public:
  /// A peer that has the token. The channel is started; `hand_over` says who hears of it.
  using Met = std::function<void(const std::string& name, std::shared_ptr<SecureChannel> channel)>;

  /// Listens at `place` (a numeric address; port 0: any that is free). `kinds` are
  /// `peer_messages<...>`. A caller has `limit` to greet. Errors: those of SecureListener::open,
  /// and `invalid_argument` for a token of fewer than 16 characters.
  static Result<std::unique_ptr<PeerDesk>> open(boost::asio::io_context& loop, const Endpoint& place, PeerIdentity self,
                                                std::span<const wire::Carried> kinds, Met met,
                                                std::chrono::milliseconds limit = std::chrono::seconds(10));
  Endpoint endpoint() const { return {host_, listener_->port()}; }

 private:
  PeerDesk(std::string host, PeerIdentity self, Met met)
      : host_(std::move(host)), self_(std::move(self)), met_(std::move(met)) {}
  void greet(const std::shared_ptr<SecureChannel>& caller, const wire::Frame& frame) const;

  std::string host_;
  PeerIdentity self_;
  Met met_;
  std::unique_ptr<SecureListener> listener_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Connects to a peer's desk and proves to have the token, both within `limit` each. `connected` is
/// called once, with a started channel, or with the reason: `unavailable` (nobody there, no
/// answer), `refused` (another token, on either side).
void connect_to_peer(boost::asio::io_context& loop, const Endpoint& peer, PeerIdentity self,
                     std::chrono::milliseconds limit, std::span<const wire::Carried> kinds,
                     std::function<void(Result<std::shared_ptr<SecureChannel>>)> connected);

}  // namespace headway::cluster
