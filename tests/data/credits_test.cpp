#include "data/credits.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace headway::data {

BOOST_AUTO_TEST_SUITE(credits_suite)

BOOST_AUTO_TEST_CASE(a_unit_starts_only_when_its_peak_fits) {
  Credits credits(1000);
  const int stream = credits.open_stream(200);
  const auto first = credits.start({stream, 400, 50});
  BOOST_TEST(first.value().bytes == 650);  // 1.5 times decoded, and compressed.
  BOOST_TEST(!credits.start({stream, 400, 50}).has_value());
  credits.hold(first->ticket, 400);  // It has been read.
  BOOST_TEST(credits.used_bytes() == 400);
  BOOST_TEST(credits.start({stream, 400, 0}).has_value());
  BOOST_TEST(credits.used_bytes() == 1000);
  BOOST_TEST(credits.peak_bytes() == 1000);
}

BOOST_AUTO_TEST_CASE(units_that_take_more_than_their_metadata_say_get_larger_credits) {
  Credits credits(10'000);
  const int stream = credits.open_stream(0);
  const auto first = credits.start({stream, 100, 0});
  credits.hold(first->ticket, 300);
  BOOST_TEST(credits.estimate({stream, 100, 0}) == 450);
  const auto second = credits.start({stream, 100, 0});
  credits.hold(second->ticket, 100);  // Smaller ones count by and by.
  BOOST_TEST(credits.estimate({stream, 100, 0}) == 375);
}

BOOST_AUTO_TEST_CASE(a_unit_larger_than_the_budget_is_read_when_a_rank_waits_for_it_and_announced) {
  Credits credits(1000);
  const int stream = credits.open_stream(5000);
  BOOST_TEST(!credits.start({stream, 2000, 0}).has_value());
  const auto grant = credits.start({stream, 2000, 0, true});
  BOOST_TEST(grant.value().over_bytes == 2000);
  BOOST_TEST(!credits.start({stream, 10, 0, true}).has_value());  // One at a time.
  credits.hold(grant->ticket, 2000);
  BOOST_TEST(credits.start({stream, 10, 0, true}).has_value());
}

BOOST_AUTO_TEST_CASE(a_stream_that_nobody_consumes_leaves_the_others_their_floor) {
  Credits credits(1000);
  const int eager = credits.open_stream(300);
  const int late = credits.open_stream(300);
  std::vector<Grant> held;
  while (const auto grant = credits.start({eager, 100, 0})) {
    credits.hold(grant->ticket, 100);
    held.push_back(*grant);
  }
  BOOST_TEST(credits.used_by(eager) == 600);
  BOOST_TEST(credits.start({late, 100, 0}).has_value());
  BOOST_TEST(credits.start({late, 100, 0}).value().over_bytes == 0);
  credits.close_stream(late);
  BOOST_TEST(credits.used_bytes() == 600);
  for (const Grant& grant : held) credits.release(grant.ticket);
  BOOST_TEST(credits.used_bytes() == 0);
}

BOOST_AUTO_TEST_CASE(what_ranks_wait_for_is_asked_for_first_and_then_the_stream_with_the_least) {
  Credits credits(1000);
  const int full = credits.open_stream(0);
  const int empty = credits.open_stream(0);
  BOOST_REQUIRE(credits.start({full, 100, 0}).has_value());
  BOOST_TEST(credits.is_before({empty, 1, 0}, {full, 1, 0}));
  BOOST_TEST(credits.is_before({full, 1, 0, true}, {empty, 1, 0}));
  BOOST_TEST(!credits.is_before({full, 1, 0}, {full, 1, 0}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
