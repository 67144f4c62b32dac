#include "dashboard/access.hpp"

#include <boost/test/unit_test.hpp>

#include <random>

/// Who may ask a dashboard for anything.
namespace headway::dashboard {

namespace {

struct Guarded {
  Guarded() { access.use_port(8265); }

  RequestHead from_the_page(const std::string& target) const {
    RequestHead head{"GET", target, "127.0.0.1:8265", "", "same-origin", "", "", ""};
    head.cookie = "other=1; headway_8265=" + token + "; last=2";
    return head;
  }
  Access::Decision decide(const RequestHead& head) const { return access.decide(head); }
  unsigned status(const RequestHead& head) const {
    const Access::Decision decision = decide(head);
    return decision.verdict == Access::Verdict::not_allowed ? decision.status : 200;
  }

  const std::string token = "00112233445566778899aabbccddeeff";
  Access access{token, {"driver.example"}, false};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(access_suite, Guarded)

BOOST_AUTO_TEST_CASE(the_page_asks_with_its_cookie_and_a_program_with_its_token) {
  BOOST_TEST(status(from_the_page("/api/state")) == 200U);
  RequestHead program = from_the_page("/metrics");
  program.cookie = program.fetch_site = "";
  program.authorization = "Bearer " + token;
  BOOST_TEST(status(program) == 200U);
  program.authorization = "Bearer " + token + "0";
  BOOST_TEST(status(program) == 401U);
}

BOOST_AUTO_TEST_CASE(nobody_sees_anything_without_the_token) {
  for (const char* cookie :
       {"", "headway_8265", "headway_8265=", "headway_8266=00112233445566778899aabbccddeeff",
        "headway_8265=00112233445566778899aabbccddeefe", "xheadway_8265=00112233445566778899aabbccddeeff"}) {
    for (const char* target : {"/", "/api/state", "/api/events", "/assets/x/y.js", "/?token=", "/?token=0011"}) {
      RequestHead head = from_the_page(target);
      head.cookie = cookie;
      BOOST_TEST_CONTEXT(cookie << " " << target) BOOST_TEST(status(head) == 401U);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_printed_address_signs_in_from_a_link_of_another_page) {
  RequestHead head = from_the_page("/?token=" + token);
  head.cookie = "";
  head.fetch_site = "cross-site";
  BOOST_TEST((decide(head).verdict == Access::Verdict::signed_in));
  BOOST_TEST(access.cookie_header() == "headway_8265=" + token + "; HttpOnly; SameSite=Strict; Path=/");
}

BOOST_AUTO_TEST_CASE(only_get_is_allowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "CONNECT", "TRACE", "get", ""}) {
    RequestHead head = from_the_page("/api/state");
    head.method = method;
    BOOST_TEST_CONTEXT(method) BOOST_TEST(status(head) == 405U);
  }
}

BOOST_AUTO_TEST_CASE(a_name_that_a_foreign_page_has_pointed_here_is_refused) {
  for (const char* host :
       {"evil.example:8265", "evil.example", "", "127.0.0.1.evil.example:8265", "localhost.", "[::2]:8265"}) {
    RequestHead head = from_the_page("/api/state");
    head.host = host;
    BOOST_TEST_CONTEXT(host) BOOST_TEST(status(head) == 421U);
  }
  // A tunnel has another port.
  for (const char* host : {"localhost:9000", "127.0.0.1:1", "[::1]:8265", "driver.example:8265", "localhost"}) {
    RequestHead head = from_the_page("/api/state");
    head.host = host;
    BOOST_TEST_CONTEXT(host) BOOST_TEST(status(head) == 200U);
  }
}

BOOST_AUTO_TEST_CASE(another_page_asks_for_nothing) {
  RequestHead head = from_the_page("/api/state");
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:8265", "http://127.0.0.1:8266"}) {
    head.origin = origin;
    BOOST_TEST_CONTEXT(origin) BOOST_TEST(status(head) == 403U);
  }
  head.origin = "http://127.0.0.1:8265";
  BOOST_TEST(status(head) == 200U);
  for (const char* site : {"cross-site", "same-site"}) {
    head.fetch_site = site;
    BOOST_TEST_CONTEXT(site) BOOST_TEST(status(head) == 403U);
  }
}

BOOST_AUTO_TEST_CASE(an_address_is_read_as_it_was_meant) {
  const auto target = parse_target("/api//runs/a%2Fb%20c?find=x+y%3D&rank=3&empty&rank2=");
  BOOST_REQUIRE(target.has_value());
  BOOST_TEST(target->path == (std::vector<std::string>{"api", "runs", "a/b c"}), boost::test_tools::per_element());
  BOOST_TEST(target->text("find") == "x y=");
  BOOST_TEST(target->number("rank", 0, 0, 10).value() == 3);
  BOOST_TEST(target->number("none", 7, 0, 10).value() == 7);
  BOOST_TEST(target->number("rank", 0, 4, 10).error().message == "rank is '3'; allowed: from 4 to 10");
  BOOST_TEST(target->number("find", 0, 0, 1).error().message == "find is 'x y='; allowed: a number");
  for (const char* bad : {"", "api", "http://x/", "/%", "/%0", "/%zz", "/%00", "/a b", "/\x7f", "/?a=%", "*"}) {
    BOOST_TEST_CONTEXT(bad) BOOST_TEST(!parse_target(bad).has_value());
  }
}

// Whatever bytes come: they are refused or understood, and nobody without the token is let in.
BOOST_AUTO_TEST_CASE(random_bytes_open_nothing) {
  std::mt19937 random(19);
  const std::string letters = "/%?&=;: \"\\[].+-_a0fheadway_8265=0011\r\n\0\x80\xff";
  const auto noise = [&] {
    std::string text = random() % 2 == 0 ? "/" : "";
    for (std::size_t size = random() % 64; size > 0; --size) {
      text += random() % 4 == 0 ? static_cast<char>(random()) : letters[random() % letters.size()];
    }
    return text;
  };
  for (int round = 0; round < 20'000; ++round) {
    RequestHead head{"GET", noise(), "localhost", "", "", noise(), noise(), ""};
    const Access::Decision decision = decide(head);
    BOOST_REQUIRE((decision.verdict == Access::Verdict::not_allowed));
    BOOST_REQUIRE(decision.status >= 400U);
    (void)parse_target(head.target);
  }
}

BOOST_AUTO_TEST_CASE(tokens_are_128_bits_and_differ) {
  const std::string one = new_token().value();
  BOOST_TEST(one.size() == 32U);
  BOOST_TEST(one != new_token().value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
