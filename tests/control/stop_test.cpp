#include "control/rig.hpp"

/// Runs that end because they have got far enough: the user's conditions say so.
namespace headway::control {

namespace {

RunSpec stopping_at(std::map<std::string, double> limits, int max_failures = 0) {
  RunSpec spec = spec_of(2, max_failures);
  spec.stop = std::move(limits);
  return spec;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stop_suite)

BOOST_AUTO_TEST_CASE(a_metric_that_comes_to_its_value_ends_the_run_as_finished) {
  Rig run(stopping_at({{"accuracy", 0.9}}));
  run.to_running();
  run.report_all({{"accuracy", 0.89}});
  BOOST_TEST(run.count<AnswerReport>() == 2U);
  run.report_all({{"accuracy", 0.9}});
  BOOST_TEST(run.count<AppendResult>() == 2U);
  BOOST_TEST(run.count<AnswerReport>() == 2U);  // Its ranks do not go on.
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::terminate));
  run.group_ends({true, 15, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.last<WriteJournal>().snapshot.stop_reason.value() == "accuracy is 0.9 (RunConfig.stop: 0.9)");
}

BOOST_AUTO_TEST_CASE(ranks_that_are_deaf_to_sigterm_are_killed) {
  Rig run(stopping_at({{"training_iteration", 1}}));
  run.to_running();
  run.report_all();
  run.advance(1s);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
}

BOOST_AUTO_TEST_CASE(the_report_s_checkpoint_is_committed_before_the_end) {
  Rig run(stopping_at({{"eval/accuracy", 0.5}}));
  run.to_running();
  run.report_all({{"eval", {{"accuracy", 1}}}}, files({"model.pt"}));
  run.begun();
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.uploaded(0);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.committed();
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().checkpoints.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_metric_that_is_not_reported_is_warned_of_once) {
  Rig run(stopping_at({{"acuracy", 0.9}}));
  run.to_running();
  run.report_all({{"accuracy", 1}, {"loss", 0}});
  run.report_all({{"accuracy", 1}, {"loss", 0}});
  BOOST_TEST(run.count<Warn>() == 1U);
  BOOST_TEST(contains(run.last<Warn>().text, "\"acuracy\", which the report does not have; it has accuracy, loss"));
  BOOST_TEST(run.count<EndWorkers>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_metric_of_the_user_s_wins_over_an_automatic_one_and_nan_ends_nothing) {
  Rig run(stopping_at({{"training_iteration", 2}}));
  run.to_running();
  run.report_all({{"training_iteration", 1}});
  run.report_all({{"training_iteration", std::nan("")}});
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.report_all({{"training_iteration", 7}});
  BOOST_TEST(run.count<EndWorkers>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_stop_that_is_asked_for_while_a_group_waits_to_be_restarted_finishes_the_run) {
  Rig run(spec_of(1, 5));
  run.to_running();
  run.killed(0);
  run.group_ends();
  run.restart();
  run.killed(0);
  run.group_ends();
  run.send(StopAsked{"far enough"});
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.restarts() == 1U);
}

BOOST_AUTO_TEST_CASE(a_stop_while_a_failed_group_ends_is_no_restart) {
  Rig run(spec_of(2, 5));
  run.to_running();
  run.killed(0);
  run.send(StopAsked{"far enough"});
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.restarts() == 0U);
}

BOOST_AUTO_TEST_CASE(an_asynchronous_checkpoint_is_stored_before_the_run_stops_and_later_reports_are_not_heard) {
  Rig run(spec_of(1));
  run.to_running();
  CheckpointOffer offer = files({"model.pt"});
  offer.asynchronous = true;
  run.report_all({}, offer);
  run.begun();
  run.send(StopAsked{"far enough"});
  run.report_all();
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.uploaded(0);
  run.committed();
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  BOOST_TEST(run.count<AppendResult>() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
