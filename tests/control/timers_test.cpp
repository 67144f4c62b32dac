#include "control/timers.hpp"

#include <boost/test/unit_test.hpp>

/// Whose a timer is that fires.
namespace headway::control {

BOOST_AUTO_TEST_SUITE(timers_suite)

BOOST_AUTO_TEST_CASE(each_timer_fires_once_and_says_whose_it_is) {
  Timers timers;
  const std::int64_t echo = timers.set({TimerPurpose::echo});
  const std::int64_t validation = timers.set({TimerPurpose::validation, 7});
  BOOST_TEST(echo != validation);
  BOOST_TEST((timers.fired(validation) == Timer{TimerPurpose::validation, 7}));
  BOOST_TEST(!timers.fired(validation));
  BOOST_TEST((timers.fired(echo) == Timer{TimerPurpose::echo}));
}

BOOST_AUTO_TEST_CASE(a_cancelled_timer_is_nobodys) {
  Timers timers;
  const std::int64_t first = timers.set({TimerPurpose::question, 1});
  const std::int64_t other = timers.set({TimerPurpose::question, 2});
  timers.cancel({TimerPurpose::question, 1});
  BOOST_TEST(!timers.fired(first));
  BOOST_TEST(timers.fired(other).has_value());
}

BOOST_AUTO_TEST_CASE(equal_timers_fire_side_by_side) {
  Timers timers;
  const std::int64_t first = timers.set({TimerPurpose::preemption});
  const std::int64_t second = timers.set({TimerPurpose::preemption});
  BOOST_TEST(timers.fired(first).has_value());
  BOOST_TEST(timers.fired(second).has_value());
}

BOOST_AUTO_TEST_CASE(the_end_of_an_attempt_cancels_what_was_for_it_alone) {
  Timers timers;
  const std::int64_t terminate = timers.set({TimerPurpose::terminate});
  const std::int64_t sync = timers.set({TimerPurpose::folder_sync});
  const std::int64_t artifacts = timers.set({TimerPurpose::artifacts});
  const std::int64_t hang = timers.set({TimerPurpose::hang});
  timers.cancel_attempt();
  BOOST_TEST(!timers.fired(terminate));
  BOOST_TEST(!timers.fired(sync));
  BOOST_TEST(timers.fired(artifacts).has_value());
  BOOST_TEST(timers.fired(hang).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
