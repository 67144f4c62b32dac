#include "engine/hosted_engine.hpp"

#include "wire/blocking_channel.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/socket.h>
#include <unistd.h>

/// A guest's engine, whose host is this test.
namespace headway::engine {
namespace {

struct Hosted {
  Hosted() {
    int ends[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    host = wire::Fd(ends[0]);
    say(wire::HostResources{"node-1", {{"CPU", 4}}, {{"CPU", 2}}});
    auto link = node::HostLink::open(loop, ends[1]);
    BOOST_REQUIRE(link.has_value());
    engine = std::make_unique<HostedEngine>(std::move(*link));
  }

  template <class M>
  void say(const M& message) {
    BOOST_REQUIRE(wire::send_frame(host.get(), wire::to_frame(message)).has_value());
  }
  void acquire(std::int64_t holder) {
    const auto granted = [this](const Result<Grant>& grant) {
      answers.push_back(grant ? "granted" : grant.error().message);
    };
    engine->acquire(holder, {1, 1, {}, Placement::pack}, {granted, [](const std::string&) {}});
  }
  void hear_until(std::size_t count) {
    while (answers.size() < count) {
      BOOST_REQUIRE(loop.run_one_for(std::chrono::seconds(20)) == 1);
    }
  }

  boost::asio::io_context loop{1};
  wire::Fd host;
  std::unique_ptr<HostedEngine> engine;
  std::vector<std::string> answers;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hosted_engine_suite, Hosted)

BOOST_AUTO_TEST_CASE(what_was_asked_for_is_answered_when_the_host_grants_it) {
  acquire(1);
  say(wire::HostGranted{1, {}, {}});
  hear_until(1);
  BOOST_TEST(answers == std::vector<std::string>{"granted"});
}

BOOST_AUTO_TEST_CASE(what_waits_when_the_connection_breaks_is_answered_with_the_reason_and_so_is_what_comes_later) {
  acquire(1);
  acquire(2);
  const std::string nonsense(64, '\xff');
  BOOST_REQUIRE(::write(host.get(), nonsense.data(), nonsense.size()) == static_cast<ssize_t>(nonsense.size()));
  hear_until(2);
  acquire(3);
  BOOST_REQUIRE(answers.size() == 3);
  for (const std::string& answer : answers) BOOST_TEST(answer.starts_with("the connection to the driver broke: "));
  BOOST_TEST(engine->view().waiting_count == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
