#include "control/rig.hpp"

/// Barriers and broadcasts: all ranks together, or a failure that says who did not come.
namespace headway::control {
namespace {

struct Group : Rig {
  explicit Group(int workers, int max_failures = 0) : Rig(spec_of(workers, max_failures)) { to_running(); }
  void arrive(int rank, std::int64_t index, const std::string& kind = "barrier", int root = 0) {
    send(RankArrived{attempt(), rank, index, kind, root});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gathering_suite)

BOOST_AUTO_TEST_CASE(nobody_goes_on_until_the_last_rank_has_come) {
  Group run(3);
  run.arrive(2, 0);
  run.advance(10min);
  run.arrive(0, 0);
  BOOST_TEST(run.count<ReleaseCollective>() == 0U);
  run.arrive(1, 0);
  BOOST_REQUIRE(run.count<ReleaseCollective>() == 1U);
  BOOST_TEST(run.last<ReleaseCollective>().index == 0);
  BOOST_TEST(!run.last<ReleaseCollective>().root);
}

BOOST_AUTO_TEST_CASE(broadcasts_name_their_root_and_calls_are_counted) {
  Group run(2);
  for (int i = 0; i < 3; ++i) {
    run.arrive(0, i, "broadcast", 1);
    run.arrive(1, i, "broadcast", 1);
  }
  BOOST_TEST(run.count<ReleaseCollective>() == 3U);
  BOOST_TEST(run.last<ReleaseCollective>().index == 2);
  BOOST_TEST((run.last<ReleaseCollective>().root == 1));
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_returned_fails_those_that_wait_for_it) {
  Group run(3);
  run.arrive(0, 0);
  run.returns(2);
  run.group_ends();
  run.journals();
  BOOST_TEST(contains(run.failure(), "rank 2 finished the training function while rank 0 waits in barrier()"));
  BOOST_TEST(contains(run.failure(), "rank 0: waiting in collective call #1 "));
}

BOOST_AUTO_TEST_CASE(a_rank_that_comes_after_another_has_returned_fails_at_once) {
  Group run(2);
  run.returns(1);
  run.arrive(0, 0, "broadcast");
  BOOST_REQUIRE(run.of_latest<EndWorkers>().size() == 1U);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
}

BOOST_AUTO_TEST_CASE(ranks_that_call_different_things_fail_at_once_with_what_they_called) {
  for (const auto& [kind, root] : {std::pair{"barrier", 0}, std::pair{"broadcast", 1}}) {
    Group run(3);
    run.arrive(0, 0, "broadcast", 0);
    run.arrive(2, 0, kind, root);
    run.group_ends();
    run.journals();
    BOOST_TEST(contains(run.failure(), "rank 0 called broadcast() from rank 0 and rank 2 called " + std::string(kind)));
  }
}

BOOST_AUTO_TEST_CASE(the_next_attempt_begins_anew) {
  Group run(2, 1);
  run.arrive(0, 0);
  run.arrive(1, 0);
  run.arrive(0, 1);
  run.killed(1);
  run.group_ends();
  run.restart();
  run.arrive(0, 0);
  run.arrive(1, 0);
  BOOST_TEST(run.count<ReleaseCollective>() == 2U);
  BOOST_TEST(run.last<ReleaseCollective>().attempt == 2);
}

BOOST_AUTO_TEST_CASE(reports_go_their_own_way_beside_it) {
  Group run(2);
  run.arrive(0, 0);
  run.report(1);
  run.report(0);
  BOOST_TEST(run.count<AppendResult>() == 1U);
  run.arrive(1, 0);
  BOOST_TEST(run.count<ReleaseCollective>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_come_is_named_with_what_it_does_and_so_is_its_coming) {
  Group run(3);
  run.arrive(0, 0);
  run.advance(10s);
  run.arrive(2, 0);
  run.advance(20s - 1ns);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  run.advance(1ns);
  BOOST_TEST(run.last<ExamineRanks>().ranks == std::vector<int>{1});
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with(
      "rank 1 has not come to barrier() #1, in which ranks 0, 2 have waited for 30.0 s (attempt 1)\n"));
  BOOST_TEST(contains(run.last<Warn>().text, "  in function_1\n"));
  run.arrive(1, 0);
  BOOST_TEST(run.last<Notify>().text == "every rank has come to the collective call #1, after 30.0 s");
}

BOOST_AUTO_TEST_CASE(a_question_for_a_preemption_bears_its_own_name) {
  Group run(2);
  run.arrive(0, 0, "get_preemption_info");
  run.advance(30s);
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with(
      "rank 1 has not come to get_preemption_info() #1, in which rank 0 has waited for 30.0 s (attempt 1)\n"));
  BOOST_TEST(contains(run.last<Warn>().text, "  rank 0: waiting in collective call #1 for 30.0 s"));
}

BOOST_AUTO_TEST_CASE(a_broadcast_that_is_waited_for_too_long_ends_the_attempt) {
  RunSpec spec = spec_of(2);
  spec.failure.hang_fail_s = 40;
  Rig run(spec);
  run.to_running();
  run.send(RankArrived{run.attempt(), 1, 0, "broadcast", 0});
  run.advance(30s);
  run.examined();
  run.advance(10s);
  run.examined();
  run.group_ends();
  run.journals();
  BOOST_TEST(contains(run.failure(), "rank 0 did not come to the broadcast #1, in which rank 1 waited for 40.0 s"));
}

BOOST_AUTO_TEST_CASE(barriers_that_complete_are_never_looked_at) {
  Group run(2);
  for (int i = 0; i < 100; ++i) {
    run.arrive(0, i);
    run.advance(1s);
    run.arrive(1, i);
  }
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  BOOST_TEST(run.count<SetTimer>() <= 8U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
