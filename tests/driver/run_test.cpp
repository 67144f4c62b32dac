#include "driver/run.hpp"

#include "driver/fake_node.hpp"

/// One run, with the events of its node in orders that real processes seldom show.
namespace headway::driver {

BOOST_FIXTURE_TEST_SUITE(run_suite, OnFakeNode)

BOOST_AUTO_TEST_CASE(ranks_that_train_and_end_make_a_finished_run) {
  const std::shared_ptr<Run> run = start(spec(2));
  to_training(*run, 1, 1, 2);
  to_the_end(*run, 1, 1, 2);
  const control::RunOutcome end = outcome(*run);
  BOOST_TEST(end.state == "finished");
  BOOST_TEST(end.attempts == 1);
}

BOOST_AUTO_TEST_CASE(a_rank_dies_and_the_others_end_before_the_next_attempt_begins) {
  const std::shared_ptr<Run> run = start(spec(2, 1));
  to_training(*run, 1, 1, 2);
  node.exit(2, {true, 9, ""});
  node.await("signal 1 9");
  // The news of its end is late: its last words come before.
  node.say(1, wire::TrainingReturned{});
  node.exit(1, {true, 9, ""});
  to_training(*run, 2, 3, 2);
  to_the_end(*run, 2, 3, 2);
  const control::RunOutcome end = outcome(*run);
  BOOST_TEST(end.state == "finished");
  BOOST_TEST(end.attempts == 2);
}

BOOST_AUTO_TEST_CASE(what_a_rank_of_a_former_attempt_says_late_is_nothing_to_the_run) {
  const std::shared_ptr<Run> run = start(spec(1, 1));
  to_training(*run, 1, 1, 1);
  node.exit(1, {true, 11, ""});
  to_training(*run, 2, 2, 1);
  node.say(1, wire::TrainingReturned{});
  node.exit(1, {false, 0, ""});
  to_the_end(*run, 2, 2, 1);
  BOOST_TEST(outcome(*run).attempts == 2);
}

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_be_started_fails_the_attempt_with_the_reason) {
  node.refuse(Error{ErrorKind::unavailable, "no descriptors are left"});
  const std::shared_ptr<Run> run = start(spec(1));
  const control::RunOutcome end = outcome(*run);
  BOOST_TEST(end.state == "errored");
  BOOST_TEST(storage::contains(end.failure.value().message, "no descriptors are left"));
}

BOOST_AUTO_TEST_CASE(a_call_of_a_rank_that_has_gone_is_answered) {
  const std::shared_ptr<Run> run = start(spec(1, 1));
  to_training(*run, 1, 1, 1);
  run->execute(7, {0}, std::make_shared<const std::string>("a function"));
  node.await("tell 1 Execute");
  node.exit(1, {true, 9, ""});
  const CallExecuted answer = event<CallExecuted>(*run);
  BOOST_TEST(answer.call_id == 7);
  BOOST_TEST(answer.error.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
