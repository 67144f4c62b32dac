#include "control/tune/scheduler.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <utility>

/// Which trials HyperBand pauses, ends and lets go on.
namespace headway::control::tune {

namespace {

Scheduler hyperband(JsonObject arguments, const std::string& mode = "max") {
  arguments["kind"] = "hyperband";
  return Scheduler::make(std::move(arguments), "score", mode, 0).value();
}

HyperBand::State bracket_state(const Scheduler& scheduler) {
  return from_json<HyperBand::State>(scheduler.to_json().at("state"), "a test").value();
}

/// One bracket after another, as room and first time.
std::vector<std::pair<int, double>> brackets_of(Scheduler scheduler, int trials) {
  for (int trial = 0; trial < trials; ++trial) scheduler.added(trial);
  std::vector<std::pair<int, double>> found;
  for (const HyperBand::Bracket& bracket : bracket_state(scheduler).brackets) {
    found.emplace_back(bracket.room, bracket.until);
  }
  return found;
}

/// With `count` trials in its first bracket.
struct Halving {
  Halving(JsonObject arguments, int count, const std::string& mode = "max") : rule(hyperband(arguments, mode)) {
    for (int trial = 0; trial < count; ++trial) rule.added(trial);
  }
  Decision report(std::int64_t trial, double time, double score) {
    effects = {};
    return rule.reported({trial, time, score}, effects);
  }
  std::vector<std::int64_t> stopped() const {
    std::vector<std::int64_t> trials;
    for (const SideEffects::Stopped& each : effects.stopped) trials.push_back(each.trial);
    return trials;
  }

  Scheduler rule;
  SideEffects effects;
};

using TrialNumbers = std::vector<std::int64_t>;
using Brackets = std::vector<std::pair<int, double>>;

/// A band: 9 trials to iteration 1, 5 to 3, 3 to 9.
const JsonObject largest_first = {{"max_t", 9}, {"bohb", true}};

}  // namespace

BOOST_AUTO_TEST_SUITE(hyperband_suite)

BOOST_AUTO_TEST_CASE(new_trials_fill_one_bracket_after_another_and_then_the_next_band) {
  BOOST_TEST((brackets_of(hyperband({}), 5 + 8 + 15 + 34 + 81 + 1) ==
              Brackets{{5, 81}, {8, 27}, {15, 9}, {34, 3}, {81, 1}, {5, 81}}));
  BOOST_TEST((brackets_of(hyperband(largest_first), 9 + 5 + 3 + 1) == Brackets{{9, 1}, {5, 3}, {3, 9}, {9, 1}}));
  // The bracket whose first time would be int(2 / 3) is left out.
  BOOST_TEST((brackets_of(hyperband({{"max_t", 2}}), 3) == Brackets{{2, 2}, {2, 2}}));
}

BOOST_AUTO_TEST_CASE(the_last_one_to_come_decides_for_all) {
  Halving bench(largest_first, 9);
  for (int trial = 0; trial < 8; ++trial) {
    BOOST_TEST(bench.report(trial, 1, trial).reason ==
               "HyperBand: it waits at iteration 1 for the others of its bracket");
    BOOST_TEST((bench.stopped().empty() && bench.effects.resumed.empty()));
  }
  BOOST_TEST((bench.report(8, 1, 6.5).verdict == Verdict::go_on));
  BOOST_TEST((bench.stopped() == TrialNumbers{0, 1, 2, 3, 4, 5}));
  BOOST_TEST((bench.effects.resumed == TrialNumbers{6, 7}));
  BOOST_TEST(bench.effects.stopped.front().reason == "HyperBand: 0 is not among the best 3 of 9 trials at iteration 1");
  BOOST_TEST((bench.report(8, 2, 1).verdict == Verdict::go_on));
  BOOST_TEST((bench.report(8, 3, 1).verdict == Verdict::pause));
  BOOST_TEST((bench.report(6, 3, 2).verdict == Verdict::pause));
  // The last one is bad, too.
  BOOST_TEST(bench.report(7, 3, 0).reason == "HyperBand: 0 is not among the best 1 of 3 trials at iteration 3");
  BOOST_TEST((bench.stopped() == TrialNumbers{8}));
  BOOST_TEST((bench.effects.resumed == TrialNumbers{6}));
  BOOST_TEST(bench.report(6, 9, 0).reason == "HyperBand: its bracket has come to max_t, 9");
}

BOOST_AUTO_TEST_CASE(of_equal_scores_the_later_trial_goes_on) {
  Halving bench(largest_first, 9);
  for (int trial = 8; trial > 0; --trial) (void)bench.report(trial, 1, 1);
  BOOST_TEST((bench.report(0, 1, 1).verdict == Verdict::stop));
  BOOST_TEST((bench.effects.resumed == TrialNumbers{6, 7, 8}));
}

BOOST_AUTO_TEST_CASE(less_is_better_in_the_mode_min_and_no_number_is_worst) {
  Halving bench({{"max_t", 3}, {"bohb", true}}, 3, "min");
  const auto heard = [&](std::int64_t trial, double score) {
    bench.effects = {};
    return bench.rule.reported(*bench.rule.progress(trial, {{"score", score}, {"training_iteration", 1}}),
                               bench.effects);
  };
  (void)heard(0, std::numeric_limits<double>::quiet_NaN());
  (void)heard(1, 5);
  BOOST_TEST((heard(2, 4).verdict == Verdict::go_on));
  BOOST_TEST((bench.stopped() == TrialNumbers{0, 1}));
  BOOST_TEST(bench.effects.stopped.back().reason == "HyperBand: 5 is not among the best 1 of 3 trials at iteration 1");
}

BOOST_AUTO_TEST_CASE(the_end_of_the_last_one_on_its_way_decides_too) {
  Halving bench(largest_first, 9);
  for (int trial = 0; trial < 8; ++trial) (void)bench.report(trial, 1, trial);
  bench.effects = {};
  bench.rule.removed(8, bench.effects);
  BOOST_TEST((bench.stopped() == TrialNumbers{0, 1, 2, 3, 4}));
  BOOST_TEST((bench.effects.resumed == TrialNumbers{5, 6, 7}));
  // One that has ended has no verdicts and no bracket.
  BOOST_TEST((bench.report(8, 9, 1).verdict == Verdict::go_on));
  bench.effects = {};
  bench.rule.removed(8, bench.effects);
  BOOST_TEST((bench.stopped().empty() && bench.effects.resumed.empty()));
}

BOOST_AUTO_TEST_CASE(a_bracket_with_room_is_halved_when_all_that_came_are_there) {
  Halving bench({{"max_t", 3}}, 2 + 2);  // 2 to iteration 3, and 2 of the next bracket's 3.
  BOOST_TEST((bench.report(2, 1, 1).verdict == Verdict::pause));
  BOOST_TEST((bench.report(3, 1, 2).verdict == Verdict::go_on));
  BOOST_TEST((bench.stopped() == TrialNumbers{2}));
  // As BOHB has it, it waits until it is full, or until nothing else is left to run.
  Halving bohb({{"max_t", 3}, {"bohb", true}}, 2);
  (void)bohb.report(0, 1, 1);
  BOOST_TEST((bohb.report(1, 1, 2).verdict == Verdict::pause));
  bohb.rule.idle(bohb.effects);
  BOOST_TEST((bohb.stopped() == TrialNumbers{0}));
  BOOST_TEST((bohb.effects.resumed == TrialNumbers{1}));
}

BOOST_AUTO_TEST_CASE(a_full_bracket_that_loses_a_trial_waits_for_no_other) {
  Halving bohb({{"max_t", 3}, {"bohb", true}}, 3);
  bohb.rule.removed(0, bohb.effects);
  BOOST_TEST((bohb.report(1, 1, 1).verdict == Verdict::pause));
  BOOST_TEST((bohb.report(2, 1, 2).verdict == Verdict::go_on));
  BOOST_TEST((bohb.stopped() == TrialNumbers{1}));
}

BOOST_AUTO_TEST_CASE(trials_that_are_far_ahead_are_halved_again_at_once) {
  Halving bench(largest_first, 9);
  for (int trial = 0; trial < 8; ++trial) (void)bench.report(trial, 4, trial);
  BOOST_TEST((bench.report(8, 4, 8).verdict == Verdict::go_on));
  BOOST_TEST((bench.stopped() == TrialNumbers{0, 1, 2, 3, 4, 5, 6, 7}));
}

BOOST_AUTO_TEST_CASE(without_stop_last_trials_they_go_on_beyond_max_t) {
  Halving bench({{"max_t", 3}, {"stop_last_trials", false}}, 2);
  BOOST_TEST((bench.report(0, 3, 1).verdict == Verdict::go_on));
  BOOST_TEST((bench.report(0, 4, 1).verdict == Verdict::go_on));
  BOOST_TEST((bench.report(1, 9, 1).verdict == Verdict::go_on));
}

BOOST_AUTO_TEST_CASE(what_it_has_seen_goes_to_json_and_comes_back) {
  Halving bench(largest_first, 9);
  for (int trial = 0; trial < 8; ++trial) (void)bench.report(trial, 1, trial);
  bench.rule = Scheduler::from_json(bench.rule.to_json()).value();
  BOOST_TEST((bench.report(8, 1, 8).verdict == Verdict::go_on));
  BOOST_TEST((bench.effects.resumed == TrialNumbers{6, 7}));
  BOOST_TEST(!bench.rule.resumes_where_there_is_room());
}

BOOST_AUTO_TEST_CASE(arguments_that_cannot_be_are_refused) {
  const auto refused = [](JsonObject arguments) {
    arguments["kind"] = "hyperband";
    return Scheduler::make(std::move(arguments), "score", "max", 0).error().message;
  };
  BOOST_TEST(refused({{"max_t", 0.5}}) == "HyperBandScheduler: max_t is 0.5; allowed: a number from 1 on");
  BOOST_TEST(refused({{"reduction_factor", 1}, {"bohb", true}}) ==
             "HyperBandForBOHB: reduction_factor is 1; allowed: a number above 1");
  BOOST_TEST(refused({{"max_t", 1e18}, {"reduction_factor", 2}}) ==
             "HyperBandScheduler: reduction_factor is 2; allowed: one with at most 64 halvings and 1e9 trials in a "
             "bracket");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
