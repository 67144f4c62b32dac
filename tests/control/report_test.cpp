#include "control/rig.hpp"

/// Reports: a barrier of all ranks, its metrics, its answers.
namespace headway::control {

BOOST_AUTO_TEST_SUITE(report_suite)

BOOST_AUTO_TEST_CASE(nobody_is_answered_until_the_last_rank_has_come) {
  Rig run(spec_of(3));
  run.to_running();
  run.report(2);
  run.advance(10min);
  run.report(0);
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  BOOST_TEST(run.count<AppendResult>() == 0U);
  run.report(1);
  const auto answers = run.of_latest<AnswerReport>();
  BOOST_REQUIRE(answers.size() == 3U);
  for (int rank = 0; rank < 3; ++rank) {
    BOOST_TEST(answers[static_cast<std::size_t>(rank)].rank == rank);
    BOOST_TEST(answers[static_cast<std::size_t>(rank)].index == 0);
    BOOST_TEST(!answers[static_cast<std::size_t>(rank)].checkpoint);
    BOOST_TEST(!answers[static_cast<std::size_t>(rank)].error);
  }
  BOOST_TEST(run.count<BeginCheckpoint>() == 0U);
}

BOOST_AUTO_TEST_CASE(the_metrics_of_rank_0_count_and_no_others) {
  Rig run(spec_of(2));
  run.to_running();
  run.report(1, {{"loss", 100.0}, {"only_here", 1}});
  run.report(0, {{"loss", 0.5}});
  const ReportLine line = run.last<AppendResult>().line;
  BOOST_TEST(line.metrics.size() == 1U);
  BOOST_TEST(line.metrics.at("loss").as_double() == 0.5);
  BOOST_TEST(line.pid == 100);
  BOOST_TEST(line.hostname == "host-a");
  BOOST_TEST(line.node_ip == "10.0.0.1");
}

BOOST_AUTO_TEST_CASE(each_report_carries_its_place_and_its_times) {
  Rig run(spec_of(1, 1));
  run.to_starting();
  run.advance(2s);
  run.restart();
  run.advance(3s);
  run.report(0);
  run.advance(4s);
  run.report(0);
  ReportLine line = run.last<AppendResult>().line;
  BOOST_TEST(line.index == 1);
  BOOST_TEST(line.iteration == 2);
  BOOST_TEST(line.time_this_iter_s == 4.0);
  BOOST_TEST(line.time_total_s == 9.0);
  BOOST_TEST(line.time_since_restore_s == 9.0);
  run.killed(0);
  run.advance(1s);
  run.group_ends();
  run.advance(2s);
  run.restart();
  run.report(0);
  line = run.last<AppendResult>().line;
  BOOST_TEST(line.attempt == 2);
  BOOST_TEST(line.index == 0);
  BOOST_TEST(line.iteration == 3);
  BOOST_TEST(line.iterations_since_restore == 1);
  BOOST_TEST(line.time_this_iter_s == 2.0);
  BOOST_TEST(line.time_since_restore_s == 2.0);
  BOOST_TEST(line.time_total_s == 12.0);
}

BOOST_AUTO_TEST_CASE(a_rank_that_reports_twice_into_one_barrier_is_a_defect_and_not_restarted) {
  Rig run(spec_of(2, -1));
  run.to_running();
  run.send(RankReported{1, 1, 0, {}, {}});
  run.send(RankReported{1, 1, 1, {}, {}});
  BOOST_TEST((run.state() == RunState::shutting_down));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::internal));
  BOOST_TEST(contains(run.failure(), "rank 1 sent report #2 while report #1 is open"));
}

BOOST_AUTO_TEST_CASE(a_rank_finishes_while_others_wait_in_report_and_is_named_at_once) {
  Rig run(spec_of(3));
  run.to_running();
  run.report_all();
  run.report(0);
  run.report(2);
  run.advance(2s);
  run.returns(1);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.group_ends();
  run.journals();
  const std::string text = run.failure();
  BOOST_TEST(
      text.starts_with("rank 1 finished the training function while ranks 0, 2 wait in report #2, "
                       "which rank 1 never called (attempt 1)\n"));
  BOOST_TEST(contains(text, "rank 0: waiting in report #2 for 2.0 s\n"));
  BOOST_TEST(contains(text, "rank 1: had finished its training function (last report #1)\n"));
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::user_code));
  BOOST_REQUIRE(run.outcome().failure->ranks.size() == 1U);
  BOOST_TEST(run.outcome().failure->ranks[0].rank == 1);
}

BOOST_AUTO_TEST_CASE(a_rank_reports_after_another_has_finished_and_nobody_waits_for_it) {
  Rig run(spec_of(3));
  run.to_running();
  run.returns(0);
  BOOST_TEST((run.state() == RunState::running));
  run.report(2);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.failure().starts_with("rank 0 finished the training function while rank 2 waits in report #1"));
  BOOST_TEST(contains(run.failure(), "rank 1: in the training function"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_finished_and_then_lost_its_process_is_still_named_to_who_reports) {
  Rig run(spec_of(2));
  run.to_running();
  run.returns(0);
  run.killed(0);
  BOOST_TEST((run.state() == RunState::running));
  run.report(1);
  BOOST_TEST((run.state() == RunState::shutting_down));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.failure().starts_with("rank 0 finished the training function while rank 1 waits in report #1"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_finished_and_then_lost_its_process_does_not_hold_up_the_end_of_the_others) {
  Rig run(spec_of(2));
  run.to_running();
  run.returns(0);
  run.killed(0);
  BOOST_TEST(contains(run.last<Warn>().text, "rank 0 (pid 100 on host-a) was killed by SIGKILL"));
  run.returns(1);
  BOOST_TEST(run.count<RunTeardown>() == 1U);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(ranks_may_finish_at_different_times_when_none_reports_afterwards) {
  Rig run(spec_of(2));
  run.to_running();
  run.report_all();
  run.returns(1);
  run.advance(1h);
  run.returns(0);
  BOOST_TEST((run.state() == RunState::shutting_down));
  BOOST_TEST(run.count<AppendResult>() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
