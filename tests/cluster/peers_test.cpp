#include "cluster/peers.hpp"

#include "cluster/bounded_loop.hpp"

#include <deque>

/// Channels between helper processes. Real sockets with TLS, on this machine.
namespace headway::cluster {

namespace {

/// What readers of data would send one another.
struct Block {
  static constexpr std::string_view is = "Block";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(Block, (), (number))
using Blocks = std::variant<Block>;

const std::string peer_token = "0123456789abcdef0123456789abcdef";
constexpr auto patience = std::chrono::seconds(20);

struct Peers : BoundedLoop {
  void open(const std::string& its_token = peer_token, std::chrono::milliseconds limit = patience) {
    auto opened = PeerDesk::open(
        loop, {"127.0.0.1", 0}, {"reader 1", its_token}, peer_messages<Blocks>,
        [this](const std::string& name, std::shared_ptr<SecureChannel> channel) {
          callers.push_back(name);
          at_desk = std::move(channel);
          listen(at_desk);
        },
        limit);
    if (!opened) BOOST_FAIL(opened.error().message);
    desk = std::move(*opened);
  }

  void listen(const std::shared_ptr<SecureChannel>& channel) {
    channel->hand_over(
        [this](wire::Frame frame) {
          heard.push_back(std::move(frame));
          return Result<void>();
        },
        nullptr);
  }

  /// The channel, or null and `words`.
  std::shared_ptr<SecureChannel> call(const Endpoint& peer, const std::string& its_token = peer_token,
                                      std::chrono::milliseconds limit = patience) {
    bool answered = false;
    std::shared_ptr<SecureChannel> channel;
    connect_to_peer(loop, peer, {"reader 2", its_token}, limit, peer_messages<Blocks>,
                    [&](Result<std::shared_ptr<SecureChannel>> result) {
                      answered = true;
                      if (!result) words = result.error().message;
                      if (result) channel = *result;
                      if (channel) listen(channel);
                    });
    run_until([&] { return answered; });
    return channel;
  }

  std::int64_t next_number() {
    run_until([this] { return !heard.empty(); });
    const auto message = wire::from_frame<Blocks>(heard.front());
    if (!message) BOOST_FAIL(message.error().message);
    blob = heard.front().blob;
    heard.pop_front();
    return std::get<Block>(*message).number;
  }

  std::unique_ptr<PeerDesk> desk;
  std::shared_ptr<SecureChannel> at_desk;
  std::vector<std::string> callers;
  std::deque<wire::Frame> heard;
  wire::Blob blob;
  std::string words;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(peers_suite, Peers)

BOOST_AUTO_TEST_CASE(helpers_of_one_driver_exchange_messages_and_bytes_in_both_directions) {
  open();
  const auto channel = call(desk->endpoint());
  BOOST_REQUIRE(channel);
  run_until([this] { return at_desk != nullptr; });
  BOOST_TEST(callers == std::vector<std::string>{"reader 2"}, boost::test_tools::per_element());
  const auto bytes = std::make_shared<const std::string>(std::size_t{3} << 20, 'x');
  channel->send(wire::to_frame(Block{7}, bytes));
  BOOST_TEST(next_number() == 7);
  BOOST_TEST((blob && *blob == *bytes));
  at_desk->send(wire::to_frame(Block{8}, bytes));
  BOOST_TEST(next_number() == 8);
}

BOOST_AUTO_TEST_CASE(a_caller_with_another_token_is_refused_in_words_and_never_met) {
  open();
  BOOST_TEST(!call(desk->endpoint(), "another token, quite as long as it"));
  BOOST_TEST(words == "the helper process at 127.0.0.1:" + std::to_string(desk->endpoint().port) +
                          ": the token is not this driver's");
  BOOST_TEST(callers.empty());
}

BOOST_AUTO_TEST_CASE(a_caller_that_does_not_greet_is_refused_in_words_and_never_met) {
  open();
  std::shared_ptr<SecureChannel> stranger;
  std::string reason;
  connect(loop, "127.0.0.1", desk->endpoint().port, patience, peer_messages<Blocks>,
          [&](Result<std::shared_ptr<SecureChannel>> channel) {
            BOOST_REQUIRE(static_cast<bool>(channel));
            stranger = *channel;
            const auto answered = [&](const wire::Frame& frame) {
              reason = std::get<Refused>(wire::from_frame<PeerMessages<Blocks>::Any>(frame).value()).reason;
              return Result<void>();
            };
            stranger->start(answered, nullptr);
            stranger->send(wire::to_frame(Block{1}));
          });
  run_until([&] { return !reason.empty(); });
  BOOST_TEST(reason == "the first message is no greeting");
  BOOST_TEST(callers.empty());
}

BOOST_AUTO_TEST_CASE(a_desk_that_cannot_prove_itself_gets_nothing_from_the_caller) {
  std::shared_ptr<SecureChannel> caller;
  auto impostor = SecureListener::open(
      loop, "127.0.0.1", 0, peer_messages<Blocks>,
      [&](std::shared_ptr<SecureChannel> channel) {
        caller = std::move(channel);
        caller->start([](wire::Frame) { return Result<void>(); }, nullptr);
        caller->send(wire::to_frame(Greeted{proof_of("a guess of the token", "peer desk", caller->binding())}));
      },
      nullptr);
  BOOST_REQUIRE(static_cast<bool>(impostor));
  BOOST_TEST(!call({"127.0.0.1", (*impostor)->port()}));
  BOOST_TEST(words.ends_with("it did not prove that it has this driver's token"));
}

BOOST_AUTO_TEST_CASE(a_peer_that_says_nothing_is_given_up_after_the_limit) {
  std::shared_ptr<SecureChannel> caller;
  auto silent = SecureListener::open(
      loop, "127.0.0.1", 0, peer_messages<Blocks>,
      [&](std::shared_ptr<SecureChannel> channel) { caller = std::move(channel); }, nullptr);
  BOOST_REQUIRE(static_cast<bool>(silent));
  BOOST_TEST(!call({"127.0.0.1", (*silent)->port()}, peer_token, std::chrono::seconds(1)));
  BOOST_TEST(words.ends_with(": it said nothing within 1 s"));
}

BOOST_AUTO_TEST_CASE(a_frame_beyond_the_bounds_of_strangers_ends_a_caller_that_has_not_greeted) {
  open();
  std::shared_ptr<SecureChannel> stranger;
  bool ended = false;
  connect(loop, "127.0.0.1", desk->endpoint().port, patience, peer_messages<Blocks>,
          [&](Result<std::shared_ptr<SecureChannel>> channel) {
            BOOST_REQUIRE(static_cast<bool>(channel));
            stranger = *channel;
            stranger->start([](wire::Frame) { return Result<void>(); },
                            [&](const std::optional<Error>&) { ended = true; });
            stranger->send(wire::to_frame(Block{1}, std::make_shared<const std::string>(std::size_t{1} << 20, 'x')));
          });
  run_until([&] { return ended; });
  BOOST_TEST(callers.empty());
}

BOOST_AUTO_TEST_CASE(a_desk_without_a_token_is_not_opened) {
  const auto opened = PeerDesk::open(loop, {"127.0.0.1", 0}, {"reader 1", ""}, peer_messages<Blocks>, nullptr);
  BOOST_REQUIRE(!static_cast<bool>(opened));
  BOOST_TEST((opened.error().kind == ErrorKind::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::cluster
