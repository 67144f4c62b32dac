#include "cluster/bounded_loop.hpp"
#include "cluster/join_desk.hpp"

#include <deque>

/// Who may speak to a driver from outside, and what is heard of those who may not. Real sockets, on
/// this machine.
namespace headway::cluster {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

const std::string token = "a token of sixteen characters or more";

struct Fixture : BoundedLoop {
  void open() {
    const auto joined_as = [this](node::NodeResources node, std::shared_ptr<SecureChannel> channel) {
      nodes.push_back(std::move(node));
      channel->hand_over([this](wire::Frame frame) { return keep(heard, std::move(frame)); }, nullptr);
      joined = std::move(channel);
    };
    auto opened = JoinDesk::open(loop, {{"127.0.0.1", 0}, token, 10}, joined_as, nullptr);
    if (!opened) BOOST_FAIL(opened.error().message);
    desk = std::move(*opened);
  }

  static Result<void> keep(std::deque<wire::Frame>& frames, wire::Frame frame) {
    frames.push_back(std::move(frame));
    return {};
  }

  /// A channel to the port, past its TLS handshake.
  std::shared_ptr<SecureChannel> call(std::uint16_t port) {
    std::shared_ptr<SecureChannel> caller;
    std::string failure;
    connect(loop, "127.0.0.1", port, std::chrono::seconds(10), wire::messages_of<ToAgent>,
            [&](Result<std::shared_ptr<SecureChannel>> channel) {
              if (channel) caller = *channel;
              if (!channel) failure = channel.error().message;
            });
    run_until([&] { return caller || !failure.empty(); });
    if (!caller) {
      words = failure;
      return nullptr;
    }
    caller->start([this](wire::Frame frame) { return keep(answers, std::move(frame)); },
                  [this](const std::optional<Error>&) { ended = true; });
    return caller;
  }

  Join join_with(const std::string& secret, const SecureChannel& channel,
                 const std::string& version = HEADWAY_VERSION) {
    return {version, proof_of(secret, "agent", channel.binding()), "host-b", {{"CPU", 4}}, {}, {}};
  }

  std::string refusal() {
    run_until([this] { return !answers.empty(); });
    const auto answer = wire::from_frame<ToAgent>(answers.front());
    const Refused* refused = answer ? std::get_if<Refused>(&*answer) : nullptr;
    return refused ? refused->reason : "not refused";
  }

  std::unique_ptr<JoinDesk> desk;
  std::vector<node::NodeResources> nodes;
  std::shared_ptr<SecureChannel> joined;
  std::deque<wire::Frame> heard;
  std::deque<wire::Frame> answers;
  std::string words;
  bool ended = false;
};

/// Takes TLS apart in the middle: two sessions, and whatever one end says is said to the other.
struct Eavesdropper {
  Eavesdropper(asio::io_context& loop, std::uint16_t target) {
    auto opened = SecureListener::open(
        loop, "127.0.0.1", 0, wire::messages_of<FromAgent>,
        [this, &loop, target](std::shared_ptr<SecureChannel> caller) {
          connect(loop, "127.0.0.1", target, std::chrono::seconds(10), wire::messages_of<ToAgent>,
                  [this, caller](Result<std::shared_ptr<SecureChannel>> other) {
                    caller->trust();
                    (*other)->trust();
                    pass(caller, *other);
                    pass(*other, caller);
                    channels = {caller, *other};
                  });
        },
        nullptr);
    if (!opened) BOOST_FAIL(opened.error().message);
    listener = std::move(*opened);
  }
  static void pass(const std::shared_ptr<SecureChannel>& from, const std::shared_ptr<SecureChannel>& to) {
    from->start(
        [to](wire::Frame frame) {
          to->send(std::move(frame));
          return Result<void>();
        },
        [to](const std::optional<Error>&) { to->finish(); });
  }

  std::unique_ptr<SecureListener> listener;
  std::vector<std::shared_ptr<SecureChannel>> channels;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(secure_channel_suite, Fixture)

BOOST_AUTO_TEST_CASE(who_has_the_token_joins_and_is_answered_with_proof) {
  open();
  const auto agent = call(desk->port());
  agent->send(wire::to_frame(join_with(token, *agent)));
  run_until([this] { return !answers.empty(); });
  const auto answer = wire::from_frame<ToAgent>(answers.front());
  const Welcome& welcome = std::get<Welcome>(*answer);
  BOOST_TEST(welcome.node_id == "node-1");
  BOOST_TEST(is_same_proof(welcome.proof, proof_of(token, "driver", agent->binding())));
  BOOST_TEST(!is_same_proof(welcome.proof, proof_of(token, "agent", agent->binding())));
  BOOST_REQUIRE(nodes.size() == 1U);
  BOOST_TEST(nodes[0].hostname == "host-b");
  BOOST_TEST(nodes[0].total.at("CPU") == 4.0);
  BOOST_TEST(nodes[0].node_ip == "127.0.0.1");
}

BOOST_AUTO_TEST_CASE(frames_arrive_whole_and_in_order_large_ones_too) {
  open();
  const auto agent = call(desk->port());
  agent->send(wire::to_frame(join_with(token, *agent)));
  run_until([this] { return joined != nullptr; });
  const auto large = std::make_shared<const std::string>(std::size_t{20} << 20, 'x');
  wire::Frame inner = wire::to_frame(Noticed{"within"}, large);
  const std::string inner_json = inner.json;
  agent->send(enclose(WorkerTold{7, 0}, std::move(inner)));
  agent->send(wire::to_frame(WorkerPrinted{7}, std::make_shared<const std::string>("no \xff UTF-8")));
  agent->send(wire::to_frame(Noticed{std::string(std::size_t{1} << 20, 'y')}));
  run_until([this] { return heard.size() == 3; });
  BOOST_TEST(
      (std::get<Noticed>(*wire::from_frame<FromAgent>(heard[2])).text == std::string(std::size_t{1} << 20, 'y')));
  const auto told = wire::from_frame<FromAgent>(heard[0]);
  const auto inside = inner_frame(std::get<WorkerTold>(*told).json_size, heard[0].blob);
  BOOST_REQUIRE(inside.has_value());
  BOOST_TEST(inside->json == inner_json);
  BOOST_TEST((*inside->blob == *large));
  BOOST_TEST(*heard[1].blob == "no \xff UTF-8");
}

BOOST_AUTO_TEST_CASE(what_is_sent_ahead_arrives_before_all_that_is_queued) {
  open();
  const auto agent = call(desk->port());
  agent->send(wire::to_frame(join_with(token, *agent)));
  run_until([this] { return joined != nullptr; });
  const auto large = std::make_shared<const std::string>(std::size_t{1} << 20, 'x');
  for (int line = 0; line < 3; ++line) agent->send(wire::to_frame(WorkerPrinted{7}, large));
  agent->send_ahead(wire::to_frame(AskLease{5}));
  run_until([this] { return heard.size() == 4; });
  const auto first = wire::from_frame<FromAgent>(heard[0]);
  BOOST_REQUIRE(std::holds_alternative<AskLease>(*first));
  BOOST_TEST(std::get<AskLease>(*first).number == 5);
  for (std::size_t i = 1; i < heard.size(); ++i) BOOST_TEST((*heard[i].blob == *large));
}

BOOST_AUTO_TEST_CASE(what_is_sent_ahead_arrives_in_the_middle_of_a_frame_that_takes_long) {
  open();
  const auto agent = call(desk->port());
  agent->send(wire::to_frame(join_with(token, *agent)));
  run_until([this] { return joined != nullptr; });
  // More than sockets hold: it is under way until the other end has read nearly all of it.
  const auto large = std::make_shared<const std::string>(std::size_t{64} << 20, 'x');
  agent->send(wire::to_frame(WorkerPrinted{7}, large));
  for (int step = 0; step < 50; ++step) loop.run_one();
  BOOST_TEST(heard.empty());
  for (const std::int64_t number : {5, 6}) agent->send_ahead(wire::to_frame(AskLease{number}));
  run_until([this] { return heard.size() == 3; });
  for (std::size_t i = 0; i < 2; ++i) {
    const auto asked = wire::from_frame<FromAgent>(heard[i]);
    BOOST_REQUIRE(std::holds_alternative<AskLease>(*asked));
    BOOST_TEST(std::get<AskLease>(*asked).number == static_cast<std::int64_t>(5 + i));
  }
  BOOST_TEST((*heard[2].blob == *large));
  BOOST_TEST(agent->queued_bytes() == 0U);
}

BOOST_AUTO_TEST_CASE(who_has_another_token_is_refused_and_told_why) {
  open();
  const auto stranger = call(desk->port());
  stranger->send(wire::to_frame(join_with("another token, quite as long as it", *stranger)));
  BOOST_TEST(refusal() == "the token is not this driver's");
  run_until([this] { return ended; });
  BOOST_TEST(nodes.empty());
}

BOOST_AUTO_TEST_CASE(another_version_is_refused) {
  open();
  const auto old = call(desk->port());
  old->send(wire::to_frame(join_with(token, *old, "0.0.1")));
  BOOST_TEST(refusal() == "it has Headway 0.0.1, and this driver " HEADWAY_VERSION);
}

BOOST_AUTO_TEST_CASE(a_proof_is_of_no_use_to_one_who_sits_between) {
  open();
  const Eavesdropper between(loop, desk->port());
  const auto agent = call(between.listener->port());
  agent->send(wire::to_frame(join_with(token, *agent)));
  BOOST_TEST(refusal() == "the token is not this driver's");
  BOOST_TEST(nodes.empty());
}

BOOST_AUTO_TEST_CASE(a_stranger_gets_no_memory) {
  open();
  const auto stranger = call(desk->port());
  stranger->send(wire::to_frame(WorkerPrinted{1}, std::make_shared<const std::string>(std::size_t{1} << 20, 'x')));
  run_until([this] { return ended; });
  BOOST_TEST(nodes.empty());
  BOOST_TEST(answers.empty());
}

BOOST_AUTO_TEST_CASE(who_speaks_no_tls_is_not_heard) {
  open();
  tcp::socket plain(loop);
  plain.connect({asio::ip::make_address("127.0.0.1"), desk->port()});
  asio::write(plain, asio::buffer(std::string("GET / HTTP/1.1\r\n\r\n")));
  bool closed = false;
  std::array<char, 256> sink{};
  std::function<void()> drain = [&] {
    plain.async_read_some(asio::buffer(sink), [&](const boost::system::error_code& failure, std::size_t) {
      closed = static_cast<bool>(failure);
      if (!failure) drain();
    });
  };
  drain();
  run_until([&] { return closed; });
  BOOST_TEST(nodes.empty());
}

BOOST_AUTO_TEST_CASE(where_nobody_listens_is_told_with_the_address) {
  open();
  const std::uint16_t port = desk->port();
  desk.reset();
  loop.restart();
  BOOST_TEST(!call(port));
  BOOST_TEST(words.starts_with("cannot connect to 127.0.0.1:" + std::to_string(port) + ": "));
}

BOOST_AUTO_TEST_CASE(addresses_are_read_and_others_refused) {
  BOOST_TEST(parse_endpoint("listen", "[::1]:80")->host == "::1");
  BOOST_TEST(parse_endpoint("listen", "host.example:4000")->port == 4000);
  for (const char* bad : {"", "host", ":80", "host:", "host:x", "host:70000", "::1:80", "host:80 "}) {
    const auto refused = parse_endpoint("listen", bad);
    BOOST_TEST(!refused.has_value(), bad);
    if (!refused) BOOST_TEST(refused.error().message.starts_with("listen is '"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::cluster
