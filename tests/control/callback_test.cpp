#include "control/rig.hpp"

/// What callbacks of the front end hear, how long ranks wait for them, and what their errors do.
namespace headway::control {

namespace {

RunSpec heard_by_callbacks(int workers, int lag_max, int max_failures = 0) {
  RunSpec spec = spec_of(workers, max_failures);
  spec.callback_lag_max = lag_max;
  return spec;
}

void heard(Rig& run) { run.send(ReportHeard{}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(callback_suite)

BOOST_AUTO_TEST_CASE(callbacks_get_what_each_rank_reported) {
  Rig run(heard_by_callbacks(2, 16));
  run.to_running();
  run.report(1, {{"loss", 2}});
  run.report(0, {{"loss", 1}});
  const auto metrics = run.last<AppendResult>().rank_metrics;
  BOOST_REQUIRE(metrics);
  BOOST_TEST((*metrics == std::vector<JsonObject>{{{"loss", 1}}, {{"loss", 2}}}));
}

BOOST_AUTO_TEST_CASE(a_run_without_callbacks_asks_for_none) {
  Rig run(spec_of(1));
  run.to_running();
  run.report_all();
  BOOST_TEST(!run.last<AppendResult>().rank_metrics);
  BOOST_TEST(run.count<AnswerReport>() == 1U);
}

BOOST_AUTO_TEST_CASE(ranks_wait_when_they_are_too_far_ahead) {
  Rig run(heard_by_callbacks(2, 1));
  run.to_running();
  run.report_all();
  BOOST_TEST(run.count<AnswerReport>() == 2U);
  run.report_all();
  BOOST_TEST(run.count<AnswerReport>() == 2U);
  BOOST_TEST(run.count<AppendResult>() == 2U);
  heard(run);
  BOOST_TEST(run.count<AnswerReport>() == 4U);
}

BOOST_AUTO_TEST_CASE(a_committed_checkpoint_s_report_waits_for_the_callbacks_too) {
  Rig run(heard_by_callbacks(1, 0));
  run.to_running();
  const std::string name = run.checkpoint();
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  heard(run);
  BOOST_TEST(run.last<AnswerReport>().checkpoint.value() == name);
}

BOOST_AUTO_TEST_CASE(a_run_ends_only_when_the_callbacks_have_heard_all_of_it) {
  Rig run(heard_by_callbacks(1, 16));
  run.to_running();
  run.report_all();
  run.returns(0);
  BOOST_TEST(run.count<RunTeardown>() == 0U);
  heard(run);
  BOOST_TEST(run.count<RunTeardown>() == 1U);
}

BOOST_AUTO_TEST_CASE(workers_that_exit_unasked_while_callbacks_are_at_work_end_the_run_no_sooner) {
  Rig run(heard_by_callbacks(1, 16));
  run.to_running();
  run.report_all();
  run.returns(0);
  run.group_ends({false, 0, ""});
  BOOST_TEST(run.count<ReleaseNodes>() == 0U);
  heard(run);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_callback_that_raises_after_its_workers_are_gone_fails_the_run) {
  Rig run(heard_by_callbacks(1, 16));
  run.to_running();
  run.report_all();
  run.returns(0);
  run.group_ends({false, 0, ""});
  run.send(FrontFailed{"raised"});
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
}

BOOST_AUTO_TEST_CASE(callbacks_hear_of_each_failed_attempt) {
  Rig run(heard_by_callbacks(2, 16, 1));
  run.to_running();
  run.raises(1, "bad batch");
  BOOST_TEST(run.last<TellFailure>().failed_attempt == 1);
  BOOST_TEST(run.last<TellFailure>().failure.ranks.at(0).rank == 1);
  run.group_ends();
  run.restart();
  run.killed(0);
  BOOST_TEST(run.count<TellFailure>() == 2U);
}

BOOST_AUTO_TEST_CASE(a_callback_that_raises_fails_the_run_whatever_the_budget) {
  Rig run(heard_by_callbacks(2, 16, -1));
  run.to_running();
  run.send(FrontFailed{"the callback Printer.after_report raised ValueError: no"});
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(contains(run.failure(), "Printer.after_report"));
  BOOST_TEST(run.restarts() == 0U);
}

BOOST_AUTO_TEST_CASE(a_callback_that_raises_between_two_attempts_prevents_the_second) {
  Rig run(heard_by_callbacks(1, 16, 5));
  run.to_running();
  run.killed(0);
  run.group_ends();
  run.restart();
  run.killed(0);
  run.group_ends();  // A group that died twice before its first report waits.
  BOOST_TEST((run.state() == RunState::restarting));
  run.send(FrontFailed{"raised"});
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  run.advance(1min);
  BOOST_TEST(run.restarts() == 1U);
}

BOOST_AUTO_TEST_CASE(a_callback_that_holds_up_the_ranks_is_named_and_its_stack_asked_for) {
  RunSpec spec = heard_by_callbacks(2, 0);
  spec.failure.hang_warn_s = 5;
  Rig run(spec);
  run.to_running();
  run.report_all();
  run.advance(6s);
  BOOST_TEST(run.last<ExamineRanks>().hook);
  run.examined();
  BOOST_TEST(contains(run.last<Warn>().text, "a callback, or a function that may stop the run, has not returned"));
  BOOST_TEST(contains(run.last<Warn>().text, "in the_hook"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
