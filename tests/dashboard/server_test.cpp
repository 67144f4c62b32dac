#include "dashboard/server.hpp"

#include "dashboard/assets.hpp"
#include "dashboard/client.hpp"

#include <random>

/// What a server does with what comes over the wire.
namespace headway::dashboard {

BOOST_FIXTURE_TEST_SUITE(server_suite, Served)

BOOST_AUTO_TEST_CASE(the_printed_address_leads_to_the_page) {
  const std::string host = "Host: 127.0.0.1:" + std::to_string(server->port()) + "\r\n";
  const std::string signed_in = ask("GET /?token=" + token + " HTTP/1.1\r\n" + host + "\r\n");
  BOOST_TEST(signed_in.starts_with("HTTP/1.1 200"));
  BOOST_TEST(signed_in.find("<link rel=icon href=\"data:,\">") != std::string::npos);
  const std::string cookie = "headway_" + std::to_string(server->port()) + "=" + token;
  BOOST_TEST(signed_in.find("Set-Cookie: " + cookie + "; HttpOnly; SameSite=Strict; Path=/\r\n") != std::string::npos);
  const std::string page = ask("GET / HTTP/1.1\r\n" + host + "Cookie: " + cookie + "\r\nConnection: close\r\n\r\n");
  BOOST_TEST(page.starts_with("HTTP/1.1 200"));
  BOOST_TEST(page.find("<title>Headway</title>") != std::string::npos);
  BOOST_TEST(page.find("Content-Security-Policy: default-src 'none'; script-src 'self'") != std::string::npos);
  const std::string prefix = "/assets/" + std::string(assets_version()) + "/";
  BOOST_TEST(page.find(prefix) != std::string::npos);
  BOOST_TEST(page.find("@ASSETS") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(files_of_the_page_may_be_kept_and_nothing_else_is_a_file) {
  const std::string prefix = "/assets/" + std::string(assets_version()) + "/";
  const std::string page = ask(request("/"));
  const std::size_t begin = page.find(prefix);
  BOOST_REQUIRE(begin != std::string::npos);
  const std::string file = page.substr(begin, page.find('"', begin) - begin);
  const std::string answer = ask(request(file));
  BOOST_TEST(answer.starts_with("HTTP/1.1 200"));
  BOOST_TEST(answer.find("Cache-Control: public, max-age=31536000, immutable") != std::string::npos);
  for (const std::string bad : {"/assets/0/app.js", "/assets/", "/assets", "/assets/../../etc/passwd"}) {
    BOOST_TEST_CONTEXT(bad) BOOST_TEST(ask(request(bad)).starts_with("HTTP/1.1 404"));
  }
  BOOST_TEST(ask(request(prefix + "%2e%2e/%2e%2e/etc/passwd")).starts_with("HTTP/1.1 404"));
}

BOOST_AUTO_TEST_CASE(one_connection_asks_many_times) {
  Client client(server->port());
  for (int round = 0; round < 3; ++round) {
    client.say(request("/api/a" + std::to_string(round), ""));
    BOOST_TEST(client.read_until("\"a" + std::to_string(round) + "\"").starts_with("HTTP/1.1 200"));
  }
}

BOOST_AUTO_TEST_CASE(a_defect_of_a_route_is_an_answer) {
  const std::string answer = ask(request("/api/defect"));
  BOOST_TEST(answer.starts_with("HTTP/1.1 500"));
  BOOST_TEST(answer.find("a defect") != std::string::npos);
  BOOST_TEST(ask(request("/api/x")).starts_with("HTTP/1.1 200"));
}

BOOST_AUTO_TEST_CASE(what_is_no_request_ends_its_connection_alone) {
  BOOST_TEST(ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
  BOOST_TEST(ask("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 421"));
  BOOST_TEST(ask(request("/api/x", "X: " + std::string(20'000, 'x') + "\r\n")).starts_with("HTTP/1.1 431"));
  const std::string own = "Host: localhost\r\nConnection: close\r\nAuthorization: Bearer " + token + "\r\n";
  BOOST_TEST(ask("POST /api/x HTTP/1.1\r\n" + own + "Content-Length: 3\r\n\r\nabc").starts_with("HTTP/1.1 405"));
  BOOST_TEST(ask("DELETE /api/x HTTP/1.1\r\n" + own + "\r\n").find("Allow: GET") != std::string::npos);
  BOOST_TEST(ask(request("/api/x")).starts_with("HTTP/1.1 200"));
}

// A property: whatever comes, the server goes on, and gives nothing away.
BOOST_AUTO_TEST_CASE(random_bytes_are_answered_or_dropped) {
  std::mt19937 random(7);
  const std::string whole = "GET /api/x HTTP/1.1\r\nHost: localhost\r\nCookie: a=b\r\nLast-Event-ID: 4\r\n\r\n";
  for (int round = 0; round < 500; ++round) {
    std::string bytes = whole;
    for (std::size_t changes = 1 + random() % 6; changes > 0; --changes) {
      const std::size_t place = random() % bytes.size();
      if (random() % 3 == 0) {
        bytes.erase(place, 1 + random() % 8);
      } else {
        bytes[place] = static_cast<char>(random());
      }
      if (bytes.empty()) bytes = "x";
    }
    Client client(server->port());
    client.say(bytes);
    boost::system::error_code ignored;
    client.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
    const std::string answer = client.read_all();
    BOOST_TEST_CONTEXT(round) BOOST_REQUIRE(answer.empty() || answer.starts_with("HTTP/1.1 4"));
  }
  BOOST_TEST(ask(request("/api/x")).starts_with("HTTP/1.1 200"));
}

BOOST_AUTO_TEST_CASE(ten_thousand_connections_leave_nothing_behind) {
  for (int round = 0; round < 10'000; ++round) {
    Client client(server->port());
    if (round % 3 == 0) client.say("GET /api/x HTT");
    if (round % 5 == 0) client.say(request("/api/x", ""));
  }
  // Those that were closed unread are found out by and by.
  std::string answer;
  while (!answer.starts_with("HTTP/1.1 200")) answer = ask(request("/api/x"));
  BOOST_TEST(answer.find("\"x\"") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(server_limits)

BOOST_AUTO_TEST_CASE(more_connections_than_allowed_are_closed_and_those_there_go_on) {
  ServerLimits limits;
  limits.connections = 3;
  Served served(limits);
  std::vector<std::unique_ptr<Client>> clients;
  for (int number = 0; number < 3; ++number) {
    clients.push_back(std::make_unique<Client>(served.server->port()));
    clients.back()->say(served.request("/api/x", ""));
    BOOST_TEST(clients.back()->read_until("\"x\"").starts_with("HTTP/1.1 200"));
  }
  BOOST_TEST(Client(served.server->port()).read_all().empty());
  clients.front()->say(served.request("/api/y", ""));
  BOOST_TEST(clients.front()->read_until("\"y\"").starts_with("HTTP/1.1 200"));
}

BOOST_AUTO_TEST_CASE(who_says_nothing_is_dropped) {
  ServerLimits limits;
  limits.request_time = std::chrono::milliseconds(50);
  Served served(limits);
  Client silent(served.server->port());
  BOOST_TEST(silent.read_all().empty());
  Client slow(served.server->port());
  slow.say("GET /api/x HTTP/1.1\r\nHost: local");
  BOOST_TEST(slow.read_all().empty());
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_is_named) {
  Served served;
  ServerConfig config;
  config.port = served.server->port();
  const auto second = Server::open(served.site, config);
  BOOST_REQUIRE(!second.has_value());
  BOOST_TEST(second.error().message.find(std::to_string(config.port)) != std::string::npos);
  BOOST_TEST((second.error().kind == ErrorKind::unavailable));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
