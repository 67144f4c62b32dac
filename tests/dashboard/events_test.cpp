#include "dashboard/client.hpp"

/// The stream of what changes.
namespace headway::dashboard {

namespace {

struct Streamed : Served {
  Streamed() : Served(quick()) {}
  static ServerLimits quick() {
    ServerLimits limits;
    limits.ping = std::chrono::milliseconds(20);
    return limits;
  }
  std::unique_ptr<Client> listener(const std::string& more = "") const {
    auto client = std::make_unique<Client>(server->port());
    client->say(request("/api/events", more));
    BOOST_TEST(client->read_until("\r\n\r\n").find("Content-Type: text/event-stream") != std::string::npos);
    return client;
  }
  /// The next event, without pings.
  static std::string next(Client& client) {
    while (true) {
      std::string text = client.read_until("\n\n");
      if (text.empty() || text.starts_with("id: ")) return text;
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(events_suite, Streamed)

BOOST_AUTO_TEST_CASE(a_page_gets_the_whole_and_then_what_changes) {
  site.publish("one");
  const auto client = listener();
  const std::string whole = next(*client);
  BOOST_TEST(whole.starts_with("id: 1\nevent: state\ndata: {\"number\":1,"));
  BOOST_TEST(whole.find("\"words\":\"one\"") != std::string::npos);
  site.publish("two");
  const std::string change = next(*client);
  BOOST_TEST(change.starts_with("id: 2\nevent: change\ndata: {\"number\":2,"));
  BOOST_TEST(change.find("\"changed\":{\"runs\":[{\"id\":\"1\",\"words\":\"two\"}]}") != std::string::npos);
  // Nothing new is no event.
  site.publish("two");
  site.publish("three");
  BOOST_TEST(next(*client).starts_with("id: 3\nevent: change"));
}

BOOST_AUTO_TEST_CASE(a_page_that_comes_back_gets_what_it_has_missed) {
  for (const char* text : {"one", "two", "three"}) site.publish(text);
  const std::string change = next(*listener("Last-Event-ID: 1\r\n"));
  BOOST_TEST(change.starts_with("id: 3\nevent: change"));
  BOOST_TEST(change.find("three") != std::string::npos);
  BOOST_TEST(change.find("two") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_page_that_was_away_for_too_long_is_told_to_load_again) {
  for (std::size_t number = 0; number < EventBoard::kept_max + 5; ++number) site.publish(std::to_string(number));
  const auto client = listener("Last-Event-ID: 2\r\n");
  BOOST_TEST(next(*client).find("event: reload") != std::string::npos);
  BOOST_TEST(next(*client).find("event: state") != std::string::npos);
  // A number that this server never gave is another driver's.
  BOOST_TEST(next(*listener("Last-Event-ID: 999\r\n")).find("event: reload") != std::string::npos);
  BOOST_TEST(next(*listener("Last-Event-ID: nonsense\r\n")).find("event: state") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(who_reads_slowly_misses_what_came_in_between_and_holds_up_nobody) {
  site.publish("begin");
  const auto slow = listener();
  (void)next(*slow);
  const auto quick = listener();
  (void)next(*quick);
  // Far more than sockets hold.
  const std::string large(1 << 20, 'x');
  constexpr int published = 20;
  for (int number = 0; number < published; ++number) {
    site.publish(large + std::to_string(number));
    BOOST_TEST(next(*quick).find("event: change") != std::string::npos);
  }
  int frames = 0;
  std::string last;
  while (last.find(large + std::to_string(published - 1)) == std::string::npos) {
    last = next(*slow);
    BOOST_REQUIRE(!last.empty());
    ++frames;
  }
  BOOST_TEST(frames < published);
}

BOOST_AUTO_TEST_CASE(a_ninth_page_is_refused_until_one_has_gone) {
  site.publish("one");
  std::vector<std::unique_ptr<Client>> pages;
  for (int number = 0; number < 8; ++number) pages.push_back(listener());
  for (const auto& page : pages) (void)next(*page);
  BOOST_TEST(ask(request("/api/events")).starts_with("HTTP/1.1 503"));
  pages.pop_back();
  std::string answer;
  while (!answer.starts_with("HTTP/1.1 200")) {
    Client again(server->port());
    again.say(request("/api/events", ""));
    answer = again.read_until("\r\n");
  }
}

BOOST_AUTO_TEST_CASE(silence_is_broken_by_pings) {
  const auto client = listener();
  BOOST_TEST(client->read_until(": ping\n\n").find(": ping") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_server_ends_while_pages_listen) {
  site.publish("one");
  const auto client = listener();
  (void)next(*client);
  server.reset();
  BOOST_TEST(client->read_all().find("event") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
