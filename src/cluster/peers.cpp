#include "cluster/peers.hpp"

#include "cluster/first_message.hpp"

#include <array>
#include <cstdio>
#include <random>

namespace headway::cluster {

namespace asio = boost::asio;

namespace {

using Greeting = PeerMessages<std::variant<>>::Any;
using Connected = std::function<void(Result<std::shared_ptr<SecureChannel>>)>;

constexpr std::size_t token_size_min = 16;

/// The answer to a greeting: whether the other end has the token too.
Result<void> check_answer(const wire::Frame& frame, const PeerIdentity& self, const SecureChannel& channel) {
  const Result<Greeting> message = wire::from_frame<Greeting>(frame);
  if (!message) return message.error();
  if (const auto* refused = std::get_if<Refused>(&*message)) return Error{ErrorKind::refused, refused->reason};
  const auto* greeted = std::get_if<Greeted>(&*message);
  if (greeted == nullptr || !is_same_proof(greeted->proof, proof_of(self.token, "peer desk", channel.binding())))
    return Error{ErrorKind::refused, "it did not prove that it has this driver's token"};
  return {};
}

void greet_desk(asio::io_context& loop, const std::shared_ptr<SecureChannel>& channel, const PeerIdentity& self,
                const std::string& place, std::chrono::milliseconds limit, const Connected& connected) {
  const auto failed = [place, connected](const Error& error) {
    connected(Error{error.kind, "the helper process at " + place + ": " + error.message});
  };
  const auto heard = [self, failed, connected](const std::shared_ptr<SecureChannel>& peer, const wire::Frame& frame) {
    peer->hand_over(nullptr, nullptr);
    if (const Result<void> proven = check_answer(frame, self, *peer); !proven) {
      peer->close();
      failed(proven.error());
      return;
    }
    peer->trust();
    connected(peer);
  };
  await_first_message(loop, channel, limit, heard, failed);
  channel->send(wire::to_frame(Greet{self.name, proof_of(self.token, "peer", channel->binding())}));
}

}  // namespace

std::string new_peer_token() {
  std::random_device random;
  std::string token;
  for (int part = 0; part < 4; ++part) {
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%08x", random());
    token += text.data();
  }
  return token;
}

Result<std::unique_ptr<PeerDesk>> PeerDesk::open(asio::io_context& loop, const Endpoint& place, PeerIdentity self,
                                                 std::span<const wire::Carried> kinds, Met met,
                                                 std::chrono::milliseconds limit) {
  if (self.token.size() < token_size_min)
    return Error{ErrorKind::invalid_argument, "the token of helper processes has fewer than 16 characters"};
  auto desk = std::unique_ptr<PeerDesk>(new PeerDesk(place.host, std::move(self), std::move(met)));
  const auto accepted = [&loop, limit, here = std::weak_ptr(desk->alive_),
                         raw = desk.get()](const std::shared_ptr<SecureChannel>& caller) {
    const auto heard = [here, raw](const std::shared_ptr<SecureChannel>& known, const wire::Frame& frame) {
      if (here.lock()) raw->greet(known, frame);
    };
    await_first_message(loop, caller, limit, heard, nullptr);
  };
  auto listener = SecureListener::open(loop, place.host, place.port, kinds, accepted, nullptr);
  if (!listener) return listener.error();
  desk->listener_ = std::move(*listener);
  return desk;
}

void PeerDesk::greet(const std::shared_ptr<SecureChannel>& caller, const wire::Frame& frame) const {
  const Result<Greet> greet = checked_greeting<Greet, Greeting>(frame, *caller, self_.token, "peer");
  if (!greet) return turn_away(caller, greet.error().message);
  caller->hand_over(nullptr, nullptr);
  caller->trust();
  caller->send(wire::to_frame(Greeted{proof_of(self_.token, "peer desk", caller->binding())}));
  met_(greet->name, caller);
}

void connect_to_peer(asio::io_context& loop, const Endpoint& peer, PeerIdentity self, std::chrono::milliseconds limit,
                     std::span<const wire::Carried> kinds, Connected connected) {
  const std::string place = peer.host + ":" + std::to_string(peer.port);
  connect(loop, peer.host, peer.port, limit, kinds,
          [&loop, self = std::move(self), place, limit,
           connected = std::move(connected)](Result<std::shared_ptr<SecureChannel>> channel) {
            if (!channel) {
              connected(channel.error());
              return;
            }
            greet_desk(loop, *channel, self, place, limit, connected);
          });
}

}  // namespace headway::cluster
