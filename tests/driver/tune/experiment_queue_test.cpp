#include "driver/tune/experiment_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>

/// What waits for a front end that does not take its events.
namespace headway::driver {

BOOST_AUTO_TEST_SUITE(experiment_queue_suite)

BOOST_AUTO_TEST_CASE(trials_wait_once_so_many_reports_do) {
  ExperimentQueue queue;
  for (std::size_t i = 1; i < ExperimentQueue::reports_max; ++i) BOOST_TEST(queue.push(TrialReported{}));
  BOOST_TEST(queue.push(TrialEnded{}));
  BOOST_TEST(!queue.push(TrialReported{}));
  BOOST_TEST(!queue.push(TrialEnded{}));
  bool was_full = false;
  BOOST_TEST(queue.take(was_full).size() == ExperimentQueue::reports_max + 2);
  BOOST_TEST(was_full);
  BOOST_TEST(queue.push(TrialReported{}));
  BOOST_TEST(queue.take(was_full).size() == 1U);
  BOOST_TEST(!was_full);
}

BOOST_AUTO_TEST_CASE(remarks_beyond_a_thousand_are_counted) {
  ExperimentQueue queue;
  for (int i = 0; i < 1200; ++i) (void)queue.push(RunWarning{"look"});
  (void)queue.push(TrialEnded{});
  bool was_full = false;
  const std::vector<ExperimentEvent> taken = queue.take(was_full);
  BOOST_REQUIRE(taken.size() == 1002U);
  BOOST_TEST(std::holds_alternative<TrialEnded>(taken[1000]));
  BOOST_TEST(std::get<RunWarning>(taken[1001]).text == "200 more notices and warnings are left out");
}

BOOST_AUTO_TEST_CASE(where_not_each_report_is_wanted_a_trials_newest_waits_until_something_else_wakes) {
  ExperimentQueue queue;
  queue.take_each_report(false);
  const auto push = [&](const std::string& trial, std::int64_t number) {
    TrialReported reported;
    reported.trial_id = trial;
    reported.number = number;
    BOOST_TEST(queue.push(reported));
  };
  for (std::size_t i = 0; i < 2 * ExperimentQueue::reports_max; ++i) push("a", static_cast<std::int64_t>(i));
  push("b", 1);
  pollfd readable{queue.event_fd(), POLLIN, 0};
  BOOST_TEST(poll(&readable, 1, 0) == 0);
  TrialEnded ended;
  ended.trial_id = "a";
  BOOST_TEST(queue.push(ended));
  BOOST_TEST(poll(&readable, 1, 0) == 1);
  push("a", 7);  // It has started again: what it came to before is not lost by that.
  bool was_full = false;
  const std::vector<ExperimentEvent> taken = queue.take(was_full);
  BOOST_REQUIRE(taken.size() == 4U);
  BOOST_TEST(std::get<TrialReported>(taken[0]).number == 1999);
  BOOST_TEST(std::get<TrialReported>(taken[1]).trial_id == "b");
  BOOST_TEST(std::get<TrialReported>(taken[3]).number == 7);
  BOOST_TEST(!was_full);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
