#include "control/rig.hpp"

/// Ranks that raise, die or never start: who is named as the cause, and how often the run starts
/// again.
namespace headway::control {

namespace {

/// The failed group goes and the last journal is written.
void to_the_end(Rig& run) {
  run.group_ends();
  run.journals();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failure_suite)

BOOST_AUTO_TEST_CASE(a_rank_raises_and_its_own_exception_comes_first_then_what_the_others_did) {
  Rig run(spec_of(3));
  run.to_running();
  run.report_all();
  run.report(0);
  run.advance(1500ms);
  run.raises(1, "loss is NaN");
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  BOOST_TEST(run.last<EndWorkers>().reason == "ValueError: loss is NaN");
  to_the_end(run);
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::user_code));
  BOOST_TEST(run.failure() ==
             "ValueError: loss is NaN\n"
             "  File \"train.py\", line 3\n"
             "Raised by the training function in rank 1 (pid 101 on host-a), attempt 1; "
             "its log: logs/rank_1.log in the run's folder\n"
             "What the other ranks were doing:\n"
             "  rank 0: waiting in report #2 for 1.5 s\n"
             "  rank 2: in the training function for 1.5 s (last report #1)\n");
  BOOST_REQUIRE(run.outcome().failure->ranks.size() == 1U);
  BOOST_TEST(run.outcome().failure->ranks[0].text == "ValueError: loss is NaN");
}

BOOST_AUTO_TEST_CASE(the_first_failure_is_told_and_those_that_follow_from_it_are_not) {
  Rig run(spec_of(3));
  run.to_running();
  run.raises(2, "the cause");
  run.raises(0, "a consequence");
  run.killed(1);
  to_the_end(run);
  BOOST_TEST(run.failure().starts_with("ValueError: the cause\n"));
  BOOST_TEST(run.count<EndWorkers>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_rank_is_killed_by_a_signal_and_is_named_with_its_last_lines) {
  Rig run(spec_of(2));
  run.to_running();
  run.exits(1, {true, 11, ""}, "epoch 1\nbad pointer");
  to_the_end(run);
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::worker_died));
  BOOST_TEST(
      run.failure().starts_with("rank 1 (pid 101 on host-a) was killed by SIGSEGV (signal 11) before its training "
                                "function had returned, in attempt 1\nThe last lines that it printed"));
  BOOST_TEST(contains(run.failure(), "\nepoch 1\nbad pointer\nWhat the other ranks were doing:\n"));
}

BOOST_AUTO_TEST_CASE(the_last_lines_of_a_crash_leave_out_the_list_of_extension_modules) {
  Rig run(spec_of(1));
  run.to_running();
  run.exits(0, {true, 11, ""},
            "Fatal Python error: Segmentation fault\n\nExtension modules: numpy, torch._C (total: 2)\nbye\n");
  to_the_end(run);
  BOOST_TEST(contains(run.failure(), "):\nFatal Python error: Segmentation fault\n\nbye\n"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_goes_with_its_factory_says_so_after_what_happened_to_it) {
  Rig run(spec_of(2));
  run.to_running();
  run.exits(1, {true, 9, "its worker factory died, and it with it"});
  to_the_end(run);
  BOOST_TEST(
      run.failure().starts_with("rank 1 (pid 101 on host-a) was killed by SIGKILL (signal 9) before its training "
                                "function had returned, in attempt 1: "
                                "its worker factory died, and it with it\n"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_exits_with_code_0_before_its_return_has_failed_too) {
  Rig run(spec_of(2));
  run.to_running();
  run.exits(0, {false, 0, ""});
  to_the_end(run);
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(contains(run.failure(), "exited with code 0 before its training function had returned"));
  BOOST_TEST(contains(run.failure(), "It had printed nothing"));
}

BOOST_AUTO_TEST_CASE(a_rank_dies_while_it_starts_and_no_set_up_is_tried) {
  Rig run(spec_of(2, 1));
  run.to_starting();
  run.ready(0);
  run.exits(1, {false, 127, "no processes left"});
  BOOST_TEST((run.state() == RunState::restarting));
  run.ready(1);
  BOOST_TEST(run.count<RunSetup>() == 0U);
  run.group_ends();
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(contains(run.last<Notify>().text,
                      "rank 1 exited with code 127 before it was ready, in attempt 1: no processes left"));
  BOOST_TEST(contains(run.last<Notify>().text, "rank 0: ready, waiting for the others to start"));
}

BOOST_AUTO_TEST_CASE(a_rank_dies_during_set_up_and_the_hooks_error_that_follows_is_not_the_cause) {
  Rig run(spec_of(2));
  run.to_starting();
  run.all_ready();
  run.killed(1, 6);
  run.send(SetupFinished{1, RankError{"WorkerDied", "rank 1's process is gone", "", false}});
  to_the_end(run);
  BOOST_TEST(run.failure().starts_with("rank 1 (pid 101 on host-a) was killed by SIGABRT"));
  BOOST_TEST(run.count<BeginTraining>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_set_up_hook_fails_and_its_error_is_told) {
  Rig run(spec_of(2));
  run.to_starting();
  run.all_ready();
  run.send(SetupFinished{1, RankError{"TimeoutError", "no rendezvous", "  File \"backend.py\", line 7", false}});
  BOOST_TEST(run.count<BeginTraining>() == 0U);
  to_the_end(run);
  BOOST_TEST(run.failure() ==
             "TimeoutError: no rendezvous\n  File \"backend.py\", line 7\n"
             "Raised while the backend set up the group of 2 workers, attempt 1\n");
}

BOOST_AUTO_TEST_CASE(a_budget_of_2_survives_two_failures_and_tells_the_third) {
  Rig run(spec_of(1, 2));
  run.to_running();
  run.raises(0, "one");
  run.group_ends();
  BOOST_TEST(run.last<Notify>().text.starts_with(
      "Restarting the worker group (failure 1 of 2 allowed) from the beginning: ValueError: one\n"));
  run.restart();
  run.killed(0);
  run.group_ends();
  BOOST_TEST(
      run.last<Notify>().text.starts_with("Restarting the worker group (failure 2 of 2 allowed) from the beginning in "
                                          "100 ms, as it has died again before its first report: "
                                          "rank 0 (pid 200 on host-a) was killed by SIGKILL"));
  run.advance(100ms);
  run.restart();
  run.raises(0, "three");
  to_the_end(run);
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(run.outcome().attempts == 3);
  BOOST_TEST(run.failure().starts_with("ValueError: three\n"));
  BOOST_TEST(run.count<Notify>() == 2U);
}

BOOST_AUTO_TEST_CASE(a_budget_of_minus_1_has_no_end) {
  Rig run(spec_of(1, -1));
  run.to_running();
  for (int failure = 1; failure <= 50; ++failure) {
    run.killed(0);
    run.group_ends();
    BOOST_TEST(contains(run.last<Notify>().text, "(failure " + std::to_string(failure) + ", no limit)"));
    run.advance(30s);
    run.restart();
  }
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(!run.outcome().failure);
  BOOST_TEST(run.outcome().attempts == 51);
}

BOOST_AUTO_TEST_CASE(a_group_that_dies_again_and_again_before_its_first_report_is_started_ever_more_slowly) {
  Rig run(spec_of(1, -1));
  run.to_running();
  std::vector<Duration> waits;
  for (int death = 0; death < 14; ++death) {
    const std::size_t attempts = run.count<StartWorkers>();
    const Time died = run.now;
    run.killed(0);
    run.group_ends();
    while (run.count<StartWorkers>() == attempts) run.advance(50ms);
    waits.push_back(run.now - died);
    run.restart();
  }
  const std::vector<Duration> expected{0ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms};
  BOOST_TEST((std::vector(waits.begin(), waits.begin() + 7) == expected));
  BOOST_TEST((waits.back() == 30s));
}

BOOST_AUTO_TEST_CASE(a_group_that_has_reported_is_started_again_at_once_however_often_it_dies) {
  Rig run(spec_of(1, -1));
  run.to_running();
  for (int death = 0; death < 5; ++death) {
    run.send(RankReported{run.attempt(), 0, 0, {{"step", death}}, {}});
    run.killed(0);
    run.group_ends();
    BOOST_TEST(run.count<StartWorkers>() == static_cast<std::size_t>(death) + 2);
    run.restart();
  }
}

BOOST_AUTO_TEST_CASE(an_abort_between_two_attempts_ends_the_run_at_once) {
  Rig run(spec_of(1, -1));
  run.to_running();
  run.killed(0);
  run.group_ends();
  run.restart();
  run.killed(0);
  run.group_ends();
  run.send(AbortAsked{"Ctrl-C"});
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
  run.advance(1min);
  BOOST_TEST(run.count<StartWorkers>() == 2U);
}

BOOST_AUTO_TEST_CASE(one_group_with_many_dead_ranks_is_one_failure) {
  Rig run(spec_of(4, 1));
  run.to_running();
  run.group_ends();
  BOOST_TEST(run.restarts() == 1U);
  run.restart();
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(nothing_starts_before_the_whole_group_is_gone) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.killed(0);
  run.advance(1h);
  BOOST_TEST(run.restarts() == 0U);
  run.killed(1);
  BOOST_TEST(run.restarts() == 0U);
  run.send(GroupEnded{1});
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(run.send(GroupEnded{1}).empty());
}

BOOST_AUTO_TEST_CASE(seventeen_other_ranks_and_more_are_summed_up) {
  Rig run(spec_of(20));
  run.to_running();
  run.raises(7, "x");
  to_the_end(run);
  BOOST_TEST(contains(run.failure(), "  rank 16: in the training function"));
  BOOST_TEST(!contains(run.failure(), "  rank 17:"));
  BOOST_TEST(run.failure().ends_with("  and 3 more ranks\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
