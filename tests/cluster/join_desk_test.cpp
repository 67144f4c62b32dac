#include "cluster/join_desk.hpp"

#include "cluster/fake_channel.hpp"
#include "cluster/strangers.hpp"

#include <cmath>

/// Who is let in, and in which order strangers go.
namespace headway::cluster {

namespace {

struct Desk {
  Desk() {
    desk = std::make_unique<JoinDesk>(
        loop, config(), [this](node::NodeResources node, std::shared_ptr<SecureChannel>) { nodes.push_back(node); });
    desk->meet(stranger);
  }
  static JoinConfig config(std::chrono::milliseconds limit = std::chrono::hours(1)) {
    return {{"127.0.0.1", 0}, fake_token, 10, limit};
  }
  Join join(const std::string& token = fake_token) const {
    return {HEADWAY_VERSION, proof_of(token, "agent", stranger->binding()), "host-b", {{"CPU", 4}}, {}, {}};
  }
  std::string refusal() { return stranger->next<ToAgent, Refused>().reason; }

  boost::asio::io_context loop{1};
  std::shared_ptr<FakeChannel> stranger = std::make_shared<FakeChannel>();
  std::vector<node::NodeResources> nodes;
  std::unique_ptr<JoinDesk> desk;
};

struct FakeStranger : Stranger {
  explicit FakeStranger(bool spoken = false) : spoken(spoken) {}
  bool unproven() const override { return !known && !gone; }
  bool has_spoken() const override { return spoken; }
  void close() override { gone = true; }
  bool spoken;
  bool known = false;
  bool gone = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(join_desk_suite, Desk)

BOOST_AUTO_TEST_CASE(a_node_with_the_token_is_trusted_before_it_is_handed_on) {
  stranger->hear(join());
  BOOST_REQUIRE(nodes.size() == 1U);
  BOOST_TEST(nodes[0].node_id == "node-1");
  BOOST_TEST(nodes[0].node_ip == "10.0.0.9");
  BOOST_TEST(stranger->trusted);
  const Welcome welcome = stranger->next<ToAgent, Welcome>();
  BOOST_TEST(is_same_proof(welcome.proof, proof_of(fake_token, "driver", stranger->binding())));
  stranger->hear(join());  // It was handed on: the desk hears no more of it.
  BOOST_TEST(nodes.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_wrong_token_and_what_is_no_greeting_are_refused_and_never_trusted) {
  stranger->hear(join("another token, quite as long as it"));
  BOOST_TEST(refusal() == "the token is not this driver's");
  BOOST_TEST(stranger->finished);
  const auto second = std::make_shared<FakeChannel>();
  desk->meet(second);
  second->hear(AskLease{1});
  BOOST_TEST((second->next<ToAgent, Refused>().reason) == "the first message is no greeting");
  BOOST_TEST(!stranger->trusted);
  BOOST_TEST(!second->trusted);
  BOOST_TEST(nodes.empty());
}

BOOST_AUTO_TEST_CASE(amounts_that_make_no_sense_are_refused) {
  for (const double amount : {-1.0, 1e300, std::nan("")}) {
    const auto other = std::make_shared<FakeChannel>();
    desk->meet(other);
    Join greeting = join();
    greeting.resources["CPU"] = amount;
    other->hear(greeting);
    BOOST_TEST((other->next<ToAgent, Refused>().reason).starts_with("its resource CPU is "));
  }
  BOOST_TEST(nodes.empty());
}

BOOST_AUTO_TEST_CASE(a_stranger_that_says_nothing_is_closed_when_its_time_is_over) {
  JoinDesk impatient(loop, config(std::chrono::milliseconds(0)), [](auto&&...) {});
  const auto silent = std::make_shared<FakeChannel>();
  impatient.meet(silent);
  loop.run_one();
  BOOST_TEST(silent->closed);
  BOOST_TEST(!stranger->closed);
}

BOOST_AUTO_TEST_CASE(what_comes_after_the_desk_has_gone_is_not_heard) {
  desk.reset();
  stranger->hear(join());
  BOOST_TEST(nodes.empty());
  BOOST_TEST(stranger->sent.empty());
}

BOOST_AUTO_TEST_CASE(where_no_more_are_admitted_those_that_take_their_time_make_way) {
  Strangers strangers(3);
  Strangers::Time now{};
  std::vector<std::shared_ptr<FakeStranger>> all;
  const auto admit = [&](bool spoken) {
    BOOST_REQUIRE(!strangers.full_until(now).has_value());
    all.push_back(std::make_shared<FakeStranger>(spoken));
    strangers.admit(all.back(), now);
  };
  for (const bool spoken : {true, false, false}) admit(spoken);
  BOOST_TEST((strangers.full_until(now) == now + Strangers::silence_max));
  now += Strangers::silence_max;
  admit(true);  // In the place of the oldest that was silent.
  BOOST_TEST(all[1]->gone);
  all[0]->known = true;  // It counts no more.
  admit(true);
  BOOST_TEST(!all[2]->gone);
  admit(true);
  BOOST_TEST(all[2]->gone);
  BOOST_TEST((strangers.full_until(now) == now + Strangers::proof_max));
  now += Strangers::proof_max;
  admit(true);
  BOOST_TEST(all[3]->gone);
  BOOST_TEST(!all[0]->gone);
  BOOST_TEST(strangers.count() == 3U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::cluster
