#include "driver/tune/experiment_queue.hpp"

#include <boost/test/unit_test.hpp>

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
