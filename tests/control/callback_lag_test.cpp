#include "control/callback_lag.hpp"

#include <boost/test/unit_test.hpp>

/// How far callbacks may be behind.
namespace headway::control {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(callback_lag_suite)

BOOST_AUTO_TEST_CASE(without_callbacks_nobody_waits) {
  CallbackLag lag(std::nullopt);
  for (int i = 0; i < 100; ++i) lag.recorded(Time{});
  BOOST_TEST(!lag.on());
  BOOST_TEST(!lag.too_far());
  BOOST_TEST(!lag.any_unheard());
  BOOST_TEST(!lag.heard(Time{}));
}

BOOST_AUTO_TEST_CASE(the_report_beyond_the_limit_is_too_far) {
  CallbackLag lag(2);
  lag.recorded(Time{1s});
  lag.recorded(Time{2s});
  BOOST_TEST(!lag.too_far());
  lag.recorded(Time{3s});
  BOOST_TEST(lag.too_far());
  BOOST_TEST((lag.since() == Time{1s}));
  BOOST_TEST(lag.heard(Time{9s}));
  BOOST_TEST(!lag.too_far());
  BOOST_TEST((lag.since() == Time{9s}));
}

BOOST_AUTO_TEST_CASE(a_held_report_is_nobodys_in_the_next_attempt) {
  CallbackLag lag(0);
  PendingReport report;
  report.index = 4;
  lag.hold(report);
  BOOST_TEST(lag.held()->index == 4);
  lag.begin_attempt();
  BOOST_TEST(!lag.held());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
