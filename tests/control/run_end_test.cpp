#include "control/run_end.hpp"

#include <boost/test/unit_test.hpp>

/// What the end of a run is called, and what it is blamed on.
namespace headway::control {

BOOST_AUTO_TEST_SUITE(run_end_suite)

BOOST_AUTO_TEST_CASE(a_run_without_a_failure_has_finished) {
  const RunEnd end;
  const RunOutcome outcome = end.outcome({}, 2);
  BOOST_TEST(outcome.state == "finished");
  BOOST_TEST(!outcome.failure);
  BOOST_TEST(outcome.attempts == 2);
  BOOST_TEST(!end.decided());
}

BOOST_AUTO_TEST_CASE(a_failure_that_is_overcome_leaves_nothing) {
  RunEnd end;
  end.fail(failure_of(FailureSource::group, ErrorKind::worker_died, "rank 0 died"), FailureCause::start);
  end.add_words(", for good");
  BOOST_TEST(end.outcome({}, 1).state == "errored");
  BOOST_TEST(end.outcome({}, 1).failure->message == "rank 0 died, for good");
  BOOST_TEST((end.cause() == FailureCause::start));
  end.forget_failure();
  BOOST_TEST(end.outcome({}, 1).state == "finished");
}

BOOST_AUTO_TEST_CASE(an_abort_wins_over_a_failure) {
  RunEnd end;
  end.fail(failure_of(FailureSource::group, ErrorKind::worker_died, "rank 0 died"));
  end.abort("Ctrl-C");
  const RunOutcome outcome = end.outcome({}, 1);
  BOOST_TEST(outcome.state == "aborted");
  BOOST_TEST((outcome.failure->source == FailureSource::asked));
  BOOST_TEST(outcome.failure->message == "Ctrl-C");
}

BOOST_AUTO_TEST_CASE(whatever_decides_the_end_is_enough) {
  RunEnd aborted;
  aborted.abort("Ctrl-C");
  RunEnd stopped;
  stopped.stop("far enough");
  RunEnd failed;
  failed.fail_by_callback();
  RunEnd lost;
  BOOST_TEST(lost.lose_folder());
  BOOST_TEST(!lost.lose_folder());
  for (const RunEnd* end : {&aborted, &stopped, &failed, &lost}) BOOST_TEST(end->decided());
}

BOOST_AUTO_TEST_CASE(each_attempt_keeps_the_first_reason_for_its_end) {
  RunEnd end;
  end.take_up({"rank 1 died"}, 2, "the driver ended before the run did");
  end.end_attempt(3, "rank 0 raised");
  end.end_attempt(3, "it did not exit in time");
  const std::vector<std::string> expected = {"rank 1 died", "the driver ended before the run did", "rank 0 raised"};
  BOOST_TEST(end.attempt_ends() == expected);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
