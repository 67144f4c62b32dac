#include "experiment_bench.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

/// Experiments: which trials run, and what becomes of them.
namespace headway::control::tune {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(tune_controller_suite)

BOOST_AUTO_TEST_CASE(trials_start_while_others_run_and_the_experiment_ends_with_the_last) {
  Bench bench{{}};
  bench.begin();
  bench.suggest(3);
  BOOST_TEST((bench.started() == std::vector<std::int64_t>{0, 1}));  // Two wait for slots at once.
  bench.handle(TrialReady{0});
  BOOST_TEST((bench.started() == std::vector<std::int64_t>{0, 1, 2}));
  bench.handle(TrialReady{1});
  bench.suggest(3);
  BOOST_TEST(bench.controller.search_over());
  bench.gone(0);
  BOOST_TEST(bench.in<TellEnd>(bench.last).front().reason == "it has returned after 0 reports");
  bench.gone(1, "errored", "ValueError: bad");
  BOOST_TEST(bench.in<TellEnd>(bench.last).front().state == "errored");
  BOOST_TEST(bench.in<FinishExperiment>(bench.all).empty());
  bench.gone(2);
  BOOST_TEST(bench.in<FinishExperiment>(bench.last).front().reason == "all of 3 trials have ended");
  BOOST_TEST(bench.trial(1).reason == "ValueError: bad");
}

BOOST_AUTO_TEST_CASE(no_more_than_max_concurrent_trials_and_suggestions_are_open) {
  ExperimentSpec spec;
  spec.max_concurrent = 1;
  Bench bench(spec);
  bench.begin();
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).front().count == 1);
  bench.suggest(2);
  bench.handle(TrialReady{0});
  BOOST_TEST(bench.started().size() == 1U);
  BOOST_TEST(bench.controller.trials().size() == 1U);  // The next one knows of this one's end.
  bench.gone(0);
  bench.suggest(2);
  BOOST_TEST(bench.started().size() == 2U);
}

BOOST_AUTO_TEST_CASE(trials_are_made_ready_beyond_max_concurrent_and_let_in_one_for_each_that_has_ended) {
  ExperimentSpec spec;
  spec.max_concurrent = 1;
  spec.prepares = 2;
  spec.time_budget_s = 60;
  Bench bench(spec);
  bench.begin();
  bench.suggest(5);
  const auto starts = bench.in<StartTrial>(bench.all);
  BOOST_REQUIRE(starts.size() == 2U);
  BOOST_TEST((!starts[0].held && starts[1].held));
  bench.handle(TrialReady{0});
  bench.suggest(5);
  BOOST_TEST(bench.started().size() == 3U);
  BOOST_TEST(bench.controller.trials().size() == 3U);
  BOOST_TEST((bench.controller.held() == std::set<std::int64_t>{1, 2}));
  BOOST_TEST(bench.in<ReleaseTrial>(bench.all).empty());
  bench.gone(0);
  BOOST_REQUIRE(bench.in<ReleaseTrial>(bench.last).size() == 1U);
  BOOST_TEST(bench.in<ReleaseTrial>(bench.last).front().trial == 1);
  bench.gone(1);
  BOOST_TEST(bench.in<ReleaseTrial>(bench.last).front().trial == 2);
  // Those that were never let in can be restored.
  bench.suggest(5);
  bench.now += 61s;
  bench.handle(TimeCame{});
  for (const StopTrial& stop : bench.in<StopTrial>(bench.last)) BOOST_TEST((stop.aborts && stop.trial > 2));
  BOOST_TEST(!bench.in<StopTrial>(bench.last).empty());
}

BOOST_AUTO_TEST_CASE(a_search_with_nothing_is_asked_again_after_the_next_report) {
  Bench bench{{}};
  bench.begin();
  bench.handle(TrialSuggested{"a", "{}", "a"});
  bench.handle(NothingSuggested{});
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).empty());
  bench.handle(TrialReady{0});
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).empty());
  bench.report(0, 1);
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).size() == 1U);
  bench.handle(NothingSuggested{});
  bench.gone(0);
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).size() == 1U);
  bench.handle(NothingSuggested{});
  BOOST_TEST(bench.in<FinishExperiment>(bench.last).front().reason ==
             "no trial is left, and the search has no suggestion");
}

BOOST_AUTO_TEST_CASE(a_search_that_had_nothing_before_it_heard_of_an_end_is_asked_again) {
  Bench bench{{}};
  bench.begin();
  bench.handle(TrialSuggested{"a", "{}", "a"});
  bench.handle(NothingSuggested{});
  bench.handle(TrialReady{0});
  bench.report(0, 1);
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).size() == 1U);
  bench.gone(0);
  bench.handle(NothingSuggested{});  // Its answer of before: it lets one trial live at a time.
  BOOST_TEST(bench.in<FinishExperiment>(bench.last).empty());
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).size() == 1U);
  bench.handle(TrialSuggested{"b", "{}", "b"});
  BOOST_TEST((bench.started() == std::vector<std::int64_t>{0, 1}));
}

BOOST_AUTO_TEST_CASE(each_question_to_the_search_has_its_answer) {
  ExperimentSpec spec;
  spec.max_concurrent = 2;
  Bench bench(spec);
  bench.begin();
  bench.handle(TrialSuggested{"a", "{}", "a"});
  bench.handle(NothingSuggested{});
  bench.report(0, 1);  // One suggestion is asked for.
  bench.gone(0);       // And one more, which knows of the end.
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).front().count == 1);
  bench.handle(NothingSuggested{});
  bench.handle(NothingSuggested{});
  BOOST_TEST(bench.in<FinishExperiment>(bench.all).empty());
  bench.handle(NothingSuggested{});
  BOOST_TEST(bench.in<FinishExperiment>(bench.last).size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_verdict_is_the_answer_to_that_report) {
  Bench bench(with_asha());
  bench.begin();
  bench.suggest(2);
  bench.handle(TrialReady{0});
  bench.handle(TrialReady{1});
  bench.report(0, 0.5);
  AnswerTrial answer = bench.in<AnswerTrial>(bench.last).front();
  BOOST_TEST((answer.trial == 0 && answer.number == 1 && answer.decision.verdict == Verdict::go_on));
  bench.report(1, 0.4);
  answer = bench.in<AnswerTrial>(bench.last).front();
  BOOST_TEST((answer.trial == 1 && answer.number == 1 && answer.decision.verdict == Verdict::stop));
  bench.gone(1, "finished", "the run was stopped");
  BOOST_TEST((bench.trial(1).state == TrialState::terminated));
  BOOST_TEST(bench.trial(1).reason == "ASHA: 0.4 is below the 75th percentile 0.5 of 1 trial at iteration 1");
}

BOOST_AUTO_TEST_CASE(stop_rules_go_before_the_scheduler_which_records_the_report) {
  ExperimentSpec spec = with_asha();
  spec.stop = {{"score", 0.9}};
  Bench bench(spec);
  bench.begin();
  bench.suggest(2);
  bench.report(0, 0.9);
  BOOST_TEST(bench.in<AnswerTrial>(bench.last).front().decision.reason == "score is 0.9 (RunConfig.stop: 0.9)");
  bench.report(1, 0.8);
  BOOST_TEST((bench.in<AnswerTrial>(bench.last).front().decision.verdict == Verdict::stop));
}

BOOST_AUTO_TEST_CASE(a_report_without_the_metric_is_an_error_that_names_it) {
  Bench bench(with_asha());
  bench.begin();
  bench.suggest(2);
  TrialReported report{0, 1, {{"training_iteration", 1}}};
  report.there = "loss, accuracy";
  bench.handle(report);
  BOOST_TEST((bench.in<AnswerTrial>(bench.last).front().decision.verdict == Verdict::stop));
  bench.gone(0);
  BOOST_TEST((bench.trial(0).state == TrialState::errored));
  BOOST_TEST(bench.trial(0).reason ==
             "report 1 has no number \"score\", which the scheduler, the search or a stop rule needs; it has loss, "
             "accuracy, and the automatic ones");
}

BOOST_AUTO_TEST_CASE(the_first_error_ends_everything_with_fail_fast) {
  ExperimentSpec spec;
  spec.fail_fast = true;
  Bench bench(spec);
  bench.begin();
  bench.suggest(4);
  bench.gone(0, "errored", "bad");
  BOOST_TEST(bench.in<StopTrial>(bench.last).front().aborts);
  bench.gone(1, "aborted", "fail_fast");
  BOOST_TEST((bench.trial(1).state == TrialState::waiting));
  BOOST_TEST(bench.in<FinishExperiment>(bench.last).front().reason == "trial t0 errored (fail_fast): bad");
  // The experiment can be restored.
  bench.spec.restore = {true, true};
  bench.spec.fail_fast = false;
  bench.all.clear();
  bench.begin();
  BOOST_TEST((bench.started() == std::vector<std::int64_t>{0, 1}));
  BOOST_TEST(bench.in<StartTrial>(bench.all).front().resumes);
}

BOOST_AUTO_TEST_CASE(the_time_budget_ends_trials_at_their_next_report_or_between_two) {
  ExperimentSpec spec;
  spec.time_budget_s = 60;
  Bench bench(spec);
  bench.begin();
  BOOST_TEST((bench.in<SetTimer>(bench.all).front().at == Time(60s)));
  bench.suggest(9);
  bench.handle(TrialReady{0});
  bench.handle(TrialReady{1});
  bench.now = Time(60s);
  bench.handle(TimeCame{});
  BOOST_TEST((bench.in<SetTimer>(bench.last).front().at == Time(65s)));
  bench.report(0, 1);
  BOOST_TEST(bench.in<AnswerTrial>(bench.last).front().decision.reason == "the time budget of 60 s has ended");
  bench.gone(0);
  bench.now = Time(65s);
  bench.handle(TimeCame{});
  BOOST_TEST(bench.in<StopTrial>(bench.last).size() == 3U);
  for (std::int64_t trial = 1; trial < 4; ++trial) bench.gone(trial);
  BOOST_TEST((bench.trial(1).state == TrialState::terminated));
  BOOST_TEST(bench.in<FinishExperiment>(bench.last).front().state == "stopped");
}

BOOST_AUTO_TEST_CASE(each_driver_has_the_whole_time_budget) {
  ExperimentSpec spec;
  spec.time_budget_s = 60;
  Bench bench(spec);
  bench.begin();
  bench.suggest(1);
  bench.now = Time(60s);
  bench.handle(TimeCame{});
  bench.gone(0, "aborted", "the driver received SIGTERM");
  bench.spec.restore.unfinished = true;
  bench.begin();
  BOOST_TEST((bench.in<SetTimer>(bench.last).front().at == Time(120s)));
  BOOST_TEST(bench.in<StartTrial>(bench.last).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_paused_trial_is_promoted_or_ends_with_the_experiment) {
  ExperimentSpec spec = with_asha();
  spec.scheduler = {{"kind", "asha"}, {"max_t", 4}, {"reduction_factor", 2}, {"promote", true}};
  Bench bench(spec);
  bench.begin();
  bench.suggest(2);
  bench.report(0, 0.5);
  bench.gone(0);
  BOOST_TEST((bench.trial(0).state == TrialState::paused));
  bench.report(1, 0.4);  // The first one is among the best half now.
  BOOST_TEST(bench.in<StartTrial>(bench.last).front().resumes);
  bench.suggest(2);
  bench.gone(1);
  BOOST_TEST((bench.trial(1).state == TrialState::paused));
  bench.report(0, 0.5, 4);
  BOOST_TEST(bench.in<FinishExperiment>(bench.all).empty());
  bench.gone(0);
  BOOST_TEST((bench.trial(1).state == TrialState::terminated));
  BOOST_TEST(bench.trial(1).reason == "ASHA: 0.4 is not among the best 1 of 2 trials at iteration 1");
  BOOST_TEST(bench.in<FinishExperiment>(bench.last).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_restored_experiment_decides_by_what_the_earlier_driver_had_seen) {
  Bench bench(with_asha());
  bench.begin();
  bench.suggest(3);
  bench.handle(TrialReady{0});
  bench.handle(TrialReady{1});
  bench.report(0, 0.5);
  bench.report(1, 0.4);
  bench.gone(1);
  TuneController restored;
  for (const std::string& line : bench.journal) {
    const LoggedEvent logged = from_line(line).value();
    (void)restored.handle(logged.at, logged.event);
  }
  BOOST_TEST(json_text(restored.scheduler().to_json()) == json_text(bench.controller.scheduler().to_json()));
  bench.spec.restore.unfinished = true;
  bench.controller = restored;
  bench.all.clear();
  bench.begin();
  // The one that had ended does not start again.
  BOOST_TEST((bench.started() == std::vector<std::int64_t>{0, 2}));
  BOOST_TEST(bench.trial(1).reason == "ASHA: 0.4 is below the 75th percentile 0.5 of 1 trial at iteration 1");
  bench.report(2, 0.45);
  BOOST_TEST(bench.in<AnswerTrial>(bench.last).front().decision.reason ==
             "ASHA: 0.45 is below the 75th percentile 0.475 of 2 trials at iteration 1");
}

BOOST_AUTO_TEST_CASE(what_was_decided_counts_though_the_driver_has_died_before_the_trial_was_gone) {
  Bench bench(with_asha());
  bench.begin();
  bench.suggest(2);
  bench.handle(TrialReady{0});
  bench.report(0, 0.5);
  bench.report(1, 0.4);
  bench.spec.restore.unfinished = true;
  bench.all.clear();
  bench.begin();
  BOOST_TEST((bench.started() == std::vector<std::int64_t>{0}));
  const TellEnd told = bench.in<TellEnd>(bench.all).front();
  BOOST_TEST((told.trial == 1 && told.state == "terminated"));
  BOOST_TEST(told.reason == "ASHA: 0.4 is below the 75th percentile 0.5 of 1 trial at iteration 1");
}

BOOST_AUTO_TEST_CASE(an_errored_trial_that_runs_again_is_judged_once_at_a_milestone) {
  Bench bench(with_asha());
  bench.begin();
  bench.suggest(2);
  bench.report(0, 0.5);
  bench.report(1, 0.6);
  bench.gone(1, "errored", "bad");
  bench.spec.restore = {true, true};
  bench.begin();
  bench.report(1, 0.1);
  BOOST_TEST((bench.in<AnswerTrial>(bench.last).front().decision.verdict == Verdict::go_on));
}

BOOST_AUTO_TEST_CASE(a_report_of_a_trial_that_is_being_ended_is_answered_with_the_reason_of_its_end) {
  Bench bench{{}};
  bench.begin();
  bench.suggest(1);
  bench.handle(TrialStopAsked{0, "the user said so"});
  bench.report(0, 1);
  const AnswerTrial answer = bench.in<AnswerTrial>(bench.last).front();
  BOOST_TEST((answer.decision.verdict == Verdict::stop));
  BOOST_TEST(answer.decision.reason == "the user said so");
}

BOOST_AUTO_TEST_CASE(unfinished_trials_stay_as_they_are_unless_they_are_to_go_on) {
  Bench bench{{}};
  bench.begin();
  bench.suggest(2);
  bench.begin();
  BOOST_TEST(bench.trial(0).left);
  bench.all.clear();
  bench.open = 0;
  bench.handle(SearchOver{});
  BOOST_TEST(bench.started().empty());
  BOOST_TEST(bench.in<FinishExperiment>(bench.all).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_trial_that_the_user_stops_counts_as_terminated) {
  Bench bench{{}};
  bench.begin();
  bench.suggest(3);
  bench.handle(TrialStopAsked{0, "the user said so"});
  BOOST_TEST(bench.in<StopTrial>(bench.last).front().trial == 0);
  bench.handle(TrialStopAsked{2, "the user said so"});
  BOOST_TEST((bench.trial(2).state == TrialState::terminated));
  bench.gone(0);
  BOOST_TEST(bench.trial(0).reason == "the user said so");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
