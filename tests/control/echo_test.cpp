#include "control/rig.hpp"

/// When a rank dies, the collectives of the others fail too, and their failures often arrive first.
/// The cause is what is reported.
namespace headway::control {

namespace {

std::string told(Rig& run) {
  run.group_ends();
  run.journals();
  return run.failure();
}

constexpr bool echo = true;

constexpr auto jax_ends =
    "F1123 client.h:80] Terminating process because the JAX distributed service detected fatal "
    "errors. This most likely indicates that another task died\n";
const ExitStatus aborted{true, 6, ""};

}  // namespace

BOOST_AUTO_TEST_SUITE(echo_suite)

BOOST_AUTO_TEST_CASE(an_echo_comes_first_and_the_death_that_caused_it_within_the_second_is_told) {
  Rig run(spec_of(2));
  run.to_running();
  run.raises(0, "connection closed by peer", echo);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(RunController::echo_grace - 1ns);
  run.exits(1, {true, 9, ""});
  const std::string failure = told(run);
  BOOST_TEST(failure.starts_with("rank 1 (pid 101 on host-a) was killed by SIGKILL"));
  BOOST_TEST(contains(failure, "  rank 0: had failed as a consequence: it lost its connection to another rank\n"));
}

BOOST_AUTO_TEST_CASE(an_echo_comes_first_and_the_exception_that_caused_it_is_told) {
  Rig run(spec_of(3));
  run.to_running();
  run.raises(2, "connection closed by peer", echo);
  run.raises(0, "connection closed by peer", echo);
  run.raises(1, "the cause");
  BOOST_TEST(told(run).starts_with("ValueError: the cause\n"));
}

BOOST_AUTO_TEST_CASE(only_an_echo_comes_and_it_is_told_itself_after_the_grace) {
  Rig run(spec_of(2));
  run.to_running();
  run.raises(0, "connection closed by peer", echo);
  run.advance(RunController::echo_grace - 1ns);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(1ns);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  BOOST_TEST(told(run).starts_with("RuntimeError: connection closed by peer\n"));
}

BOOST_AUTO_TEST_CASE(every_rank_raises_an_echo_and_the_first_is_told_at_once) {
  Rig run(spec_of(3));
  run.to_running();
  run.raises(1, "first", echo);
  run.raises(0, "second", echo);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.raises(2, "third", echo);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  BOOST_TEST(told(run).starts_with("RuntimeError: first\n"));
}

BOOST_AUTO_TEST_CASE(all_that_have_not_returned_raise_an_echo_and_nobody_is_waited_for) {
  Rig run(spec_of(2));
  run.to_running();
  run.returns(1);
  run.raises(0, "peer left", echo);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  BOOST_TEST(told(run).starts_with("RuntimeError: peer left\n"));
}

BOOST_AUTO_TEST_CASE(a_rank_whose_echo_waits_loses_its_process_and_that_is_not_the_cause) {
  Rig run(spec_of(2));
  run.to_running();
  run.raises(0, "peer left", echo);
  run.killed(0);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.raises(1, "the cause");
  BOOST_TEST(told(run).starts_with("ValueError: the cause\n"));
}

BOOST_AUTO_TEST_CASE(an_echo_waits_while_all_processes_go_and_the_run_has_failed_with_it) {
  Rig run(spec_of(2));
  run.to_running();
  run.raises(0, "peer left", echo);
  run.returns(1);
  const std::string failure = told(run);
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(failure.starts_with("RuntimeError: peer left\n"));
}

BOOST_AUTO_TEST_CASE(the_grace_of_an_attempt_that_is_over_does_not_end_the_next_one) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.raises(0, "peer left", echo);
  run.killed(1);
  run.group_ends();
  run.restart();
  run.advance(2 * RunController::echo_grace);
  BOOST_TEST((run.state() == RunState::running));
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(an_echo_counts_as_one_failure_of_the_budget) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.raises(0, "peer left", echo);
  run.advance(RunController::echo_grace);
  run.group_ends();
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(contains(run.last<Notify>().text, "failure 1 of 1 allowed"));
}

// JAX's coordination service aborts the processes that have lost one of them. On several machines
// the news of that abort may come before the news of the death.

BOOST_AUTO_TEST_CASE(an_abort_by_jax_comes_first_and_the_death_that_caused_it_is_told) {
  Rig run(spec_of(3));
  run.to_running();
  run.exits(0, aborted, jax_ends);
  run.advance(RunController::echo_grace - 1ns);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.killed(1);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  const std::string failure = told(run);
  BOOST_TEST(failure.starts_with("rank 1 (pid 101 on host-a) was killed by SIGKILL"), failure);
  BOOST_TEST(contains(failure, "rank 0: had failed as a consequence: it lost its connection to another rank"), failure);
}

BOOST_AUTO_TEST_CASE(only_an_abort_by_jax_comes_and_it_is_told_itself_after_the_grace) {
  Rig run(spec_of(2));
  run.to_running();
  run.exits(0, aborted, jax_ends);
  run.advance(RunController::echo_grace - 1ns);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(1ns);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  BOOST_TEST(contains(told(run), "was killed by SIGABRT"));
}

BOOST_AUTO_TEST_CASE(jax_aborts_all_ranks_and_the_first_is_told_at_once) {
  Rig run(spec_of(2));
  run.to_running();
  run.exits(1, aborted, jax_ends);
  run.exits(0, aborted, jax_ends);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  BOOST_TEST(told(run).starts_with("rank 1 "));
}

BOOST_AUTO_TEST_CASE(an_abort_with_other_words_or_another_end_with_these_is_a_cause) {
  for (const ExitStatus& status : {aborted, ExitStatus{true, 9, ""}, ExitStatus{false, 6, ""}}) {
    Rig run(spec_of(2));
    run.to_running();
    run.exits(0, status, status.signaled && status.code == 6 ? "free(): invalid pointer\n" : jax_ends);
    BOOST_TEST(run.count<EndWorkers>() == 1U);
    BOOST_TEST(told(run).starts_with("rank 0 "));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
