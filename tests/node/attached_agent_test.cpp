#include "node/attached_agent.hpp"

#include "node/words.hpp"
#include "wire/blocking_channel.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

/// Workers that nobody here has started: they have a session, and end with it.
namespace headway::node {

namespace {

struct Ear : AgentSink {
  Result<void> worker_message(std::int64_t, wire::Frame frame) override {
    heard.push_back(words_in(frame));
    return {};
  }
  void worker_exited(std::int64_t id, const ExitStatus& status, const std::string&) override {
    exits.emplace_back(id, status);
  }
  bool worker_line(std::int64_t, std::string_view) override { return true; }
  void notice(const std::string&) override {}

  std::vector<std::string> heard;
  std::vector<std::pair<std::int64_t, ExitStatus>> exits;
};

struct Guests {
  Guests() {
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    BOOST_REQUIRE(agent.adopt(7, wire::Fd(ends[0]), order_of("first")));
    loop.poll();
  }
  ~Guests() { leave(); }
  void leave() {
    if (ends[1] >= 0) close(std::exchange(ends[1], -1));
  }
  std::string order() const {
    const auto frame = wire::receive_frame(ends[1], wire::messages_of<wire::ToWorker>);
    return frame && *frame ? order_in(**frame) : "none";
  }
  /// Until one more event was handled.
  void step() {
    loop.restart();
    loop.run_one();
    loop.poll();
  }

  boost::asio::io_context loop{1};
  Ear ear;
  AttachedAgent agent{loop, ear};
  int ends[2] = {-1, -1};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(attached_agent_suite)

BOOST_FIXTURE_TEST_CASE(a_guest_hears_and_is_heard_over_the_socket_that_it_came_with, Guests) {
  BOOST_TEST(order() == "first");
  BOOST_REQUIRE(wire::send_frame(ends[1], words_of("ready")));
  step();
  BOOST_TEST(ear.heard == std::vector<std::string>{"ready"}, boost::test_tools::per_element());
  agent.send(7, order_of("train"));
  step();
  BOOST_TEST(order() == "train");
}

BOOST_FIXTURE_TEST_CASE(a_guest_that_leaves_has_exited_well, Guests) {
  leave();
  step();
  BOOST_REQUIRE(ear.exits.size() == 1U);
  BOOST_TEST(ear.exits[0].first == 7);
  BOOST_TEST(ear.exits[0].second.code == 0);
}

BOOST_FIXTURE_TEST_CASE(a_signal_ends_the_session_and_not_the_process, Guests) {
  BOOST_TEST(order() == "first");
  agent.signal_worker(7, SIGKILL);
  BOOST_TEST(ear.exits.empty());
  step();
  BOOST_TEST(ear.exits.size() == 1U);
  BOOST_TEST(!*wire::receive_frame(ends[1], wire::messages_of<wire::ToWorker>));
  agent.signal_worker(7, SIGKILL);
  loop.restart();
  loop.poll();
  BOOST_TEST(ear.exits.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
