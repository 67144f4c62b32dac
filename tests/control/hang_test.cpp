#include "control/rig.hpp"

/// Whoever keeps others waiting is named, with what it is doing; whoever merely takes its time is
/// left alone.
namespace headway::control {

namespace {

RunSpec watched(int workers, std::optional<double> warn_s, std::optional<double> fail_s = {}, int max_failures = 0) {
  RunSpec spec = spec_of(workers, max_failures);
  spec.failure.hang_warn_s = warn_s;
  spec.failure.hang_fail_s = fail_s;
  return spec;
}

std::vector<int> examined_ranks(const Rig& run) { return run.last<ExamineRanks>().ranks; }

}  // namespace

BOOST_AUTO_TEST_SUITE(hang_suite)

BOOST_AUTO_TEST_CASE(a_rank_does_not_come_to_a_report_and_is_named_with_what_it_does) {
  Rig run(watched(3, 30));
  run.to_running();
  run.advance(5s);
  run.report(0);
  run.advance(1s);
  run.report(2);
  run.advance(29s - 1ns);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  run.advance(1ns);
  BOOST_TEST(examined_ranks(run) == std::vector<int>{1});
  BOOST_TEST(run.count<Warn>() == 0U);
  run.examined();
  const std::string text = run.last<Warn>().text;
  BOOST_TEST(
      text.starts_with("rank 1 has not come to report #1, in which ranks 0, 2 have waited for 30.0 s (attempt 1)\n"));
  BOOST_TEST(contains(text, "rank 1 (pid 101 on host-a):\n  in function_1\n"));
  BOOST_TEST(contains(text, "  rank 0: waiting in report #1 for 30.0 s\n"));
  BOOST_TEST(contains(text, "  rank 1: in the training function for 35.0 s (no report yet)\n"));
}

BOOST_AUTO_TEST_CASE(a_long_step_of_every_rank_is_no_hang) {
  Rig run(watched(2, 30, 60));
  run.to_running();
  run.advance(24h);
  run.report_all();
  run.advance(24h);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(thousands_of_reports_ask_for_few_timers) {
  Rig run(watched(2, 30));
  run.to_running();
  for (int i = 0; i < 1000; ++i) {
    run.report_all();
    run.advance(60ms);
  }
  BOOST_TEST(run.count<SetTimer>() <= 4U);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_wait_that_begins_while_an_older_timer_runs_is_told_at_its_own_time) {
  Rig run(watched(2, 30));
  run.to_running();
  run.report_all();
  run.advance(20s);
  run.report(0);
  run.advance(30s - 1ns);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  run.advance(1ns);
  BOOST_TEST(run.count<ExamineRanks>() == 1U);
}

BOOST_AUTO_TEST_CASE(the_warning_is_repeated_after_twice_as_long_each_time) {
  Rig run(watched(2, 10));
  run.to_running();
  run.report(0);
  std::vector<double> warned_s;
  for (int second = 0; second < 200; ++second) {
    run.advance(1s);
    if (!run.of_latest<ExamineRanks>().empty()) {
      run.examined();
      warned_s.push_back(to_seconds(run.now - Time{}));
    }
  }
  BOOST_TEST(warned_s == (std::vector<double>{10, 30, 70, 150}));
}

BOOST_AUTO_TEST_CASE(it_resolves_and_one_line_says_so) {
  Rig run(watched(2, 10));
  run.to_running();
  run.report(0);
  run.advance(10s);
  run.examined();
  run.advance(5s);
  run.report(1);
  BOOST_TEST(run.last<Notify>().text == "every rank has come to report #1, after 15.0 s");
  run.advance(1h);
  BOOST_TEST(run.count<ExamineRanks>() == 1U);
}

BOOST_AUTO_TEST_CASE(it_resolves_while_it_is_looked_at_and_nothing_is_said) {
  Rig run(watched(2, 10, 20));
  run.to_running();
  run.report(0);
  run.advance(10s);
  run.report(1);
  run.examined();
  BOOST_TEST(run.count<Warn>() == 0U);
  BOOST_TEST(run.count<Notify>() == 0U);
  run.advance(1h);
  BOOST_TEST((run.state() == RunState::running));
}

BOOST_AUTO_TEST_CASE(the_watch_is_off_and_nothing_is_asked) {
  for (const std::optional<double>& off : {std::optional<double>{}, std::optional<double>{0.0}}) {
    Rig run(watched(2, off));
    run.to_running();
    run.report(0);
    run.advance(24h);
    BOOST_TEST(run.count<SetTimer>() == 0U);
    BOOST_TEST(run.count<ExamineRanks>() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(the_limit_passes_and_the_attempt_fails_with_the_rank_and_the_call_in_its_first_line) {
  Rig run(watched(2, 10, 25));
  run.to_running();
  run.report(0);
  run.advance(10s);
  run.examined();
  run.advance(15s);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.examined();
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(
      run.failure().starts_with("rank 1 did not come to report #1, in which rank 0 waited for 25.0 s, in attempt 1\n"));
  BOOST_TEST(contains(run.failure(), "  in function_1\n"));
  BOOST_TEST(contains(run.failure(), "What the ranks were doing:\n"));
  BOOST_TEST(run.outcome().failure->ranks.at(0).rank == 1);
  BOOST_TEST(!run.outcome().failure->in_collective);
}

BOOST_AUTO_TEST_CASE(the_limit_without_a_warning_counts_as_a_failure_and_the_group_starts_again) {
  Rig run(watched(2, std::nullopt, 25, 1));
  run.to_running();
  run.report(1);
  run.advance(25s);
  BOOST_TEST(examined_ranks(run) == std::vector<int>{0});
  run.examined();
  BOOST_TEST(run.count<Warn>() == 0U);
  run.group_ends();
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(contains(run.last<Notify>().text, "failure 1 of 1 allowed"));
  run.restart();
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_rank_never_becomes_ready) {
  Rig run(watched(2, 30));
  run.to_starting();
  run.ready(0);
  run.advance(30s);
  BOOST_TEST(examined_ranks(run) == std::vector<int>{1});
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with("rank 1 has not become ready for 30.0 s (attempt 1)\n"));
  run.ready(1);
  BOOST_TEST(run.last<Notify>().text == "every rank is ready, after 30.0 s");
}

BOOST_AUTO_TEST_CASE(a_start_that_uses_cpu_time_is_slow_and_does_not_fail_until_it_sleeps) {
  Rig run(watched(2, std::nullopt, 4));
  run.to_starting();
  for (const double cpu_s : {3.5, 4.0, 4.2}) {  // The machine has much else to do.
    run.advance(4s);
    run.examined({"", 77, cpu_s, "torch._dynamo"});
  }
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  BOOST_TEST(run.count<Warn>() == 0U);
  run.advance(4s);
  run.examined({"", 78, 0.0, ""});  // The factory has forked the ranks.
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(4s);
  run.examined({"", 78, 0.1, ""});
  run.group_ends();
  run.journals();
  BOOST_TEST(run.failure().starts_with("ranks 0, 1 have not become ready for 20.0 s, in attempt 1\n"));
}

BOOST_AUTO_TEST_CASE(a_start_that_sleeps_fails_at_the_limit) {
  Rig run(watched(2, std::nullopt, 60));
  run.to_starting();
  run.advance(60s);
  run.examined({"", 77, 2.5, ""});
  BOOST_TEST(run.count<EndWorkers>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_start_that_imports_is_one_line) {
  Rig run(watched(2, 5, 30));
  run.to_starting();
  run.advance(5s);
  run.examined({"", 77, 4.0, "torch._dynamo"});
  BOOST_TEST(run.last<Warn>().text == "ranks 0, 1 have been starting for 5.0 s: importing torch._dynamo (attempt 1)\n");
}

BOOST_AUTO_TEST_CASE(a_hook_waits_for_a_rank_that_does_not_answer_its_call) {
  Rig run(watched(2, 30));
  run.to_starting();
  run.all_ready();
  run.send(RanksCalled{1, {0, 1}});
  run.send(CallAnswered{1, 0});
  run.advance(30s);
  BOOST_TEST(examined_ranks(run) == std::vector<int>{1});
  BOOST_TEST(run.last<ExamineRanks>().hook);
  run.examined();
  const std::string text = run.last<Warn>().text;
  BOOST_TEST(
      text.starts_with("rank 1 has not answered a call of the backend's set-up (on_start, on_training_start), which "
                       "has not returned for 30.0 s"));
  BOOST_TEST(contains(text, "The thread that called fit():\n  in the_hook\n"));
}

BOOST_AUTO_TEST_CASE(a_hook_does_not_return_by_itself_and_the_limit_ends_the_attempt) {
  Rig run(watched(2, 10, 20));
  run.to_starting();
  run.all_ready();
  run.advance(10s);
  BOOST_TEST(examined_ranks(run).empty());
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with(
      "the backend's set-up (on_start, on_training_start) has not returned for 10.0 s"));
  run.advance(10s);
  run.examined();
  run.group_ends();
  run.journals();
  BOOST_TEST(
      run.failure().starts_with("the backend's set-up (on_start, on_training_start) has not returned for 20.0 s"));
}

BOOST_AUTO_TEST_CASE(the_tear_down_does_not_return_and_the_limit_ends_the_workers_with_the_result_standing) {
  Rig run(watched(2, 10, 20));
  run.to_running();
  run.returns(0);
  run.returns(1);
  run.advance(10s);
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with("the backend's on_shutdown has not returned for 10.0 s"));
  run.advance(10s);
  run.examined();
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::graceful));
  run.teardown_done();
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends({false, 0, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(an_upload_that_ranks_wait_for_is_named) {
  Rig run(watched(2, 30));
  run.to_running();
  run.report_all({}, files({"model"}));
  run.advance(1s);
  run.begun();
  run.advance(30s);
  BOOST_TEST(examined_ranks(run) == std::vector<int>{0});
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with(
      "rank 0 has been storing files of checkpoint_000000 for 30.0 s, and ranks 0, 1 wait for it in report #1"));
  run.uploaded(0);
  BOOST_TEST(run.last<Notify>().text == "the files of report #1 are stored, after 30.0 s");
}

BOOST_AUTO_TEST_CASE(an_upload_beside_the_training_is_no_hang_until_the_end_waits_for_it) {
  Rig run(watched(1, 30));
  run.to_running();
  CheckpointOffer offer = files({"model"});
  offer.asynchronous = true;
  run.report_all({}, offer);
  run.begun();
  run.advance(1h);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  run.returns(0);
  BOOST_TEST(run.count<ExamineRanks>() == 1U);
  run.examined();
  BOOST_TEST(contains(run.last<Warn>().text, "and the run's end waits for it"));
}

BOOST_AUTO_TEST_CASE(storage_that_fails_at_last_has_not_answered) {
  Rig run(watched(1, 10));
  run.to_running();
  run.report_all({}, files({"model"}));
  run.advance(10s);
  run.examined();
  BOOST_TEST(contains(run.last<Warn>().text, "storage has not answered for 10.0 s"));
  const std::size_t notices = run.count<Notify>();
  const auto& asked = run.last<BeginCheckpoint>();
  run.send(CheckpointBegun{asked.attempt, asked.index, Error{ErrorKind::unavailable, "the network is down"}});
  BOOST_TEST(run.count<Notify>() == notices);
}

BOOST_AUTO_TEST_CASE(storage_does_not_answer_and_is_named_but_nothing_can_be_ended_for_it) {
  Rig run(watched(1, 10, 20));
  run.start();
  run.advance(10s);
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with("storage has not answered for 10.0 s: the run's folder is made\n"));
  run.storage_ready();
  BOOST_TEST(run.last<Notify>().text == "storage has answered, after 10.0 s");
  run.grant();
  run.restart();
  run.report_all({}, files({"model"}));
  run.begun();
  run.uploaded(0);
  run.advance(20s);
  run.examined();
  BOOST_TEST(contains(run.last<Warn>().text, "storage has not answered for 20.0 s: checkpoint_000000 is committed"));
  BOOST_TEST((run.state() == RunState::running));
  run.committed();
  BOOST_TEST(run.count<AppendResult>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_process_that_does_not_end_is_named) {
  Rig run(watched(2, 10));
  run.to_running();
  run.killed(0);
  run.advance(10s);
  BOOST_TEST(examined_ranks(run) == std::vector<int>{1});
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with(
      "rank 1 has not exited, 10.0 s after the order to end (attempt 1)\n"
      "Why the attempt was ended: rank 0 (pid 100 on host-a) was killed by SIGKILL (signal 9) before its training "
      "function had returned\n"
      "rank 1 (pid 101 on host-a):\n"));
}

BOOST_AUTO_TEST_CASE(many_are_waited_for_and_only_some_are_looked_at) {
  Rig run(watched(20, 10));
  run.to_running();
  run.report(0);
  run.advance(10s);
  BOOST_TEST(examined_ranks(run) == (std::vector<int>{1, 2, 3, 4}));
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with("ranks 1 to 19 have not come to report #1"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
