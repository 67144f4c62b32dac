#include "control/tune/asha.hpp"

#include "control/tune/scheduler.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

/// Which trials successive halving ends.
namespace headway::control::tune {

namespace {

AshaSpec asha_spec(const std::string& mode = "max") {
  AshaSpec spec;
  spec.metric = "score";
  spec.mode = mode;
  spec.max_t = 16;
  return spec;
}

/// Reports a score at a time; the verdict's reason, empty when the trial goes on.
std::string told(Asha& asha, std::int64_t trial, double time, double score) {
  SideEffects effects;
  return asha.reported({trial, time, score}, effects).reason;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(asha_suite)

BOOST_AUTO_TEST_CASE(rungs_stand_at_powers_of_the_factor) {
  AshaSpec spec = asha_spec();
  spec.max_t = 100;
  spec.brackets = 3;
  const Asha asha(spec);
  std::vector<std::vector<double>> milestones;
  for (const Asha::Bracket& bracket : asha.state().brackets) {
    milestones.emplace_back();
    for (const Asha::Rung& rung : bracket.rungs) milestones.back().push_back(rung.milestone);
  }
  BOOST_TEST((milestones == std::vector<std::vector<double>>{{64, 16, 4, 1}, {64, 16, 4}, {64, 16}}));
}

BOOST_AUTO_TEST_CASE(a_score_below_the_percentile_of_earlier_ones_ends_the_trial) {
  Asha asha(asha_spec());
  for (std::int64_t trial = 0; trial < 5; ++trial) asha.added(trial);
  BOOST_TEST(told(asha, 0, 1, 0.5).empty());
  BOOST_TEST(told(asha, 1, 1, 0.4) == "ASHA: 0.4 is below the 75th percentile 0.5 of 1 trial at iteration 1");
  BOOST_TEST(told(asha, 2, 1, 0.5).empty());
  BOOST_TEST(told(asha, 3, 1, 0.49) == "ASHA: 0.49 is below the 75th percentile 0.5 of 3 trials at iteration 1");
}

BOOST_AUTO_TEST_CASE(a_trial_s_own_record_does_not_count) {
  Asha asha(asha_spec());
  asha.added(0);
  asha.added(1);
  BOOST_TEST(told(asha, 0, 1, 0.5).empty());
  BOOST_TEST(told(asha, 1, 1, 0.5).empty());
  BOOST_TEST(told(asha, 1, 2, 0).empty());  // Between two milestones.
}

BOOST_AUTO_TEST_CASE(the_highest_milestone_that_was_not_recorded_counts) {
  Asha asha(asha_spec());
  asha.added(0);
  BOOST_TEST(told(asha, 0, 5, 0.5).empty());
  const std::vector<Asha::Rung>& rungs = asha.state().brackets.front().rungs;
  BOOST_TEST(rungs[1].records.size() == 1U);  // 4
  BOOST_TEST(rungs[2].records.empty());
  // The next report goes to the milestone below, as in Ray.
  BOOST_TEST(told(asha, 0, 6, 0.6).empty());
  BOOST_TEST(rungs[2].records.front().score == 0.6);
}

BOOST_AUTO_TEST_CASE(max_t_ends_a_trial_unless_the_last_ones_go_on) {
  Asha asha(asha_spec());
  asha.added(0);
  BOOST_TEST(told(asha, 0, 16, 1) == "ASHA: iteration 16 has come to max_t, 16");
  AshaSpec spec = asha_spec();
  spec.stop_last_trials = false;
  Asha going_on(spec);
  going_on.added(0);
  going_on.added(1);
  BOOST_TEST(told(going_on, 0, 16, 1).empty());
  BOOST_TEST(told(going_on, 0, 17, 0).empty());
  BOOST_TEST(!told(going_on, 1, 16, 0.5).empty());
}

BOOST_AUTO_TEST_CASE(less_is_better_in_the_mode_min) {
  const auto scheduler = Scheduler::make({{"kind", "asha"}, {"max_t", 16}}, "loss", "min", 0);
  Scheduler asha = scheduler.value();
  SideEffects effects;
  asha.added(0);
  asha.added(1);
  BOOST_TEST(asha.reported(*asha.progress(0, {{"loss", 1}, {"training_iteration", 1}}), effects).reason.empty());
  BOOST_TEST(asha.reported(*asha.progress(1, {{"loss", 2}, {"training_iteration", 1}}), effects).reason ==
             "ASHA: 2 is above the 25th percentile 1 of 1 trial at iteration 1");
  BOOST_TEST(!asha.progress(1, {{"loss", 2}}));
}

BOOST_AUTO_TEST_CASE(a_score_that_is_no_number_ends_nobody) {
  Asha asha(asha_spec());
  asha.added(0);
  asha.added(1);
  BOOST_TEST(told(asha, 0, 1, std::numeric_limits<double>::quiet_NaN()).empty());
  BOOST_TEST(told(asha, 1, 1, 0).empty());
}

BOOST_AUTO_TEST_CASE(a_score_at_the_cutoff_goes_on_and_the_next_lower_number_does_not) {
  AshaSpec spec = asha_spec();
  spec.reduction_factor = 3;
  Asha asha(spec);
  const std::vector<double> scores = {0.1, 0.7, 0.3, 0.9, 0.2};
  for (std::int64_t trial = 0; trial < 5; ++trial) {
    asha.added(trial);
    (void)told(asha, trial, 1, scores[static_cast<std::size_t>(trial)]);
  }
  const double cutoff = 0.5666666666666668;  // numpy.nanpercentile(scores, (1 - 1 / 3) * 100).
  Asha other(spec, asha.state());
  asha.added(5);
  other.added(5);
  BOOST_TEST(told(asha, 5, 1, cutoff).empty());
  BOOST_TEST(!told(other, 5, 1, std::nextafter(cutoff, 0)).empty());
}

BOOST_AUTO_TEST_CASE(brackets_with_more_rungs_are_drawn_more_often) {
  AshaSpec spec = asha_spec();
  spec.brackets = 2;
  Asha asha(spec, 7);
  int first = 0;
  for (std::int64_t trial = 0; trial < 1000; ++trial) {
    asha.added(trial);
    if (asha.state().members.at(std::to_string(trial)).bracket == 0) ++first;
  }
  BOOST_TEST((first > 690 && first < 770));  // e / (e + 1) = 0.73.
}

BOOST_AUTO_TEST_CASE(with_promotion_a_trial_waits_until_it_is_among_the_best) {
  AshaSpec spec = asha_spec();
  spec.reduction_factor = 2;
  spec.promote = true;
  Asha asha(spec);
  for (std::int64_t trial = 0; trial < 4; ++trial) asha.added(trial);
  SideEffects effects;
  BOOST_TEST((asha.reported({0, 1, 0.3}, effects).verdict == Verdict::pause));
  BOOST_TEST((asha.reported({1, 1, 0.5}, effects).verdict == Verdict::go_on));
  BOOST_TEST(effects.resumed.empty());
  BOOST_TEST((asha.reported({2, 1, 0.2}, effects).verdict == Verdict::pause));
  const Decision last = asha.reported({3, 1, 0.1}, effects);
  BOOST_TEST(last.reason == "ASHA: 0.1 is not among the best 2 of 4 trials at iteration 1");
  BOOST_TEST((effects.resumed == std::vector<std::int64_t>{0}));
}

BOOST_AUTO_TEST_CASE(its_state_goes_to_json_and_back) {
  Scheduler first = Scheduler::make({{"kind", "asha"}, {"max_t", 16}, {"brackets", 2}}, "loss", "min", 3).value();
  SideEffects effects;
  for (std::int64_t trial = 0; trial < 4; ++trial) {
    first.added(trial);
    (void)first.reported({trial, 4, 0.1 * static_cast<double>(trial)}, effects);
  }
  Scheduler second = Scheduler::from_json(parse_json(json_text(first.to_json()), "a test").value()).value();
  BOOST_TEST(json_text(second.to_json()) == json_text(first.to_json()));
  first.added(4);
  second.added(4);
  BOOST_TEST(first.reported({4, 4, 0.1}, effects).reason == second.reported({4, 4, 0.1}, effects).reason);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const auto error = [](JsonObject description) {
    description["kind"] = "asha";
    return Scheduler::make(std::move(description), "loss", "min", 0).error().message;
  };
  BOOST_TEST(error({{"max_t", 0}}) == "ASHAScheduler: max_t is 0; allowed: a number above 0");
  BOOST_TEST(error({{"grace_period", 101}}) ==
             "ASHAScheduler: grace_period is 101; allowed: a number above 0, up to max_t");
  BOOST_TEST(error({{"reduction_factor", 1}}) == "ASHAScheduler: reduction_factor is 1; allowed: a number above 1");
  BOOST_TEST(error({{"brackets", 0}}) == "ASHAScheduler: brackets is 0; allowed: 1 to 64");
  BOOST_TEST(error({{"mode", "least"}}) == "ASHAScheduler: mode is \"least\"; allowed: \"min\" or \"max\"");
  BOOST_TEST(Scheduler::make({{"kind", "asha"}}, std::nullopt, "min", 0)
                 .error()
                 .message.starts_with("ASHAScheduler: metric is "));
  BOOST_TEST(Scheduler::make({{"kind", "?"}}, "loss", "min", 0).error().message ==
             "scheduler is of the kind \"?\"; allowed: \"fifo\", \"asha\", \"median\", \"hyperband\", \"pbt\", "
             "\"pbt_replay\"");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
