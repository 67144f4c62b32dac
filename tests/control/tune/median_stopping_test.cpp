#include "control/tune/scheduler.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

/// Which trials the median stopping rule ends.
namespace headway::control::tune {

namespace {

Scheduler median_rule(JsonObject arguments, const std::string& mode = "max") {
  arguments["kind"] = "median";
  arguments["time_attr"] = "training_iteration";
  return Scheduler::make(std::move(arguments), "score", mode, 0).value();
}

Decision told(Scheduler& rule, std::int64_t trial, double time, double score) {
  SideEffects effects;
  return rule.reported({trial, time, score}, effects);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(median_stopping_suite)

BOOST_AUTO_TEST_CASE(a_best_below_the_median_of_means_ends_the_trial) {
  Scheduler rule = median_rule({{"grace_period", 2}, {"min_samples_required", 2}});
  for (std::int64_t trial = 1; trial < 4; ++trial) {
    for (int time = 1; time < 4; ++time) (void)told(rule, trial, time, static_cast<double>(trial));
  }
  BOOST_TEST((told(rule, 0, 1, 0).verdict == Verdict::go_on));  // Within the grace period.
  BOOST_TEST(told(rule, 0, 2, 1.5).reason ==
             "median stopping: the best so far, 1.5, is worse than the median 2 of 3 trials' means at iteration 2");
  // Another one is judged by its best report, not by its last one.
  (void)told(rule, 4, 1, 2);
  BOOST_TEST((told(rule, 4, 2, 0).verdict == Verdict::go_on));
}

BOOST_AUTO_TEST_CASE(a_restored_rule_decides_as_one_that_was_not_also_where_times_go_back) {
  Scheduler rule = median_rule({{"grace_period", 2}, {"min_samples_required", 1}});
  int different = 0;
  std::uint64_t state = 1;
  for (int report = 0; report < 400; ++report) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto trial = static_cast<std::int64_t>(state >> 61);
    const double time = trial < 3 ? report / 8 : static_cast<double>((state >> 40) % 20);
    const double score = static_cast<double>((state >> 20) % 1000) / 1000;
    Scheduler restored = Scheduler::from_json(rule.to_json()).value();
    const Decision decision = told(rule, trial, time, score);
    const Decision again = told(restored, trial, time, score);
    BOOST_TEST((decision.verdict == again.verdict && decision.reason == again.reason));
    different += decision.verdict == Verdict::go_on ? 0 : 1;
  }
  BOOST_TEST(different == 3);
}

BOOST_AUTO_TEST_CASE(few_samples_end_nobody) {
  Scheduler rule = median_rule({{"grace_period", 0}, {"min_samples_required", 3}});
  (void)told(rule, 1, 5, 1);
  (void)told(rule, 2, 5, 1);
  BOOST_TEST((told(rule, 0, 5, 0).verdict == Verdict::go_on));
  (void)told(rule, 3, 1, 1);  // It has not come so far.
  BOOST_TEST((told(rule, 0, 6, 0).verdict == Verdict::go_on));
}

BOOST_AUTO_TEST_CASE(scores_that_are_no_numbers_count_for_nobody) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  Scheduler rule = median_rule({{"grace_period", 0}, {"min_samples_required", 1}});
  (void)told(rule, 1, 1, none);
  (void)told(rule, 2, 1, none);
  (void)told(rule, 2, 2, 1);
  (void)told(rule, 0, 1, none);
  BOOST_TEST(told(rule, 0, 2, 0).reason ==
             "median stopping: the best so far, 0, is worse than the median 1 of 1 trials' means at iteration 2");
}

BOOST_AUTO_TEST_CASE(less_is_better_in_the_mode_min) {
  Scheduler rule = median_rule({{"grace_period", 0}, {"min_samples_required", 1}}, "min");
  SideEffects effects;
  (void)rule.reported(*rule.progress(1, {{"score", 1}, {"training_iteration", 1}}), effects);
  BOOST_TEST(rule.reported(*rule.progress(0, {{"score", 2}, {"training_iteration", 1}}), effects).reason ==
             "median stopping: the best so far, 2, is worse than the median 1 of 1 trials' means at iteration 1");
}

BOOST_AUTO_TEST_CASE(without_hard_stop_a_trial_pauses_once) {
  Scheduler rule = median_rule({{"grace_period", 0}, {"min_samples_required", 1}, {"hard_stop", false}});
  (void)told(rule, 1, 1, 1);
  BOOST_TEST((told(rule, 0, 1, 0).verdict == Verdict::pause));
  BOOST_TEST((told(rule, 0, 2, 0).verdict == Verdict::go_on));
  BOOST_TEST(rule.resumes_where_there_is_room());
}

BOOST_AUTO_TEST_CASE(those_that_ended_by_themselves_count) {
  Scheduler rule = median_rule({{"grace_period", 0}, {"min_samples_required", 1}});
  SideEffects effects;
  rule.completed({1, 9, 1}, effects);
  rule.removed(1, effects);
  BOOST_TEST((told(rule, 0, 9, 0).verdict == Verdict::stop));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
