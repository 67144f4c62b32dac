#include "control/tune/scheduler.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <utility>

/// Which trials PBT copies from which, and when.
namespace headway::control::tune {

namespace {

/// A population that is compared by "score", the more the better.
struct Population {
  explicit Population(JsonObject arguments, int count = 4, std::uint64_t seed = 0) : rule(made(arguments, seed)) {
    for (int trial = 0; trial < count; ++trial) rule.added(trial);
  }
  static Scheduler made(JsonObject arguments, std::uint64_t seed) {
    const JsonObject defaults = {{"kind", "pbt"}, {"time_attr", "training_iteration"}, {"perturbation_interval", 4}};
    for (const auto& [name, value] : defaults) arguments.emplace(name, value);
    return Scheduler::make(arguments, "score", "max", seed).value();
  }
  Decision report(std::int64_t trial, double time, double score, bool others_wait = false, bool saved = true) {
    effects = {};
    Progress progress{trial, time, score, time, {}, others_wait};
    if (saved) progress.checkpoint = "checkpoint_" + std::to_string(static_cast<int>(time));
    return rule.reported(progress, effects);
  }
  Pbt::Member member(std::int64_t trial) const {
    const auto state = from_json<Pbt::State>(rule.to_json().at("state"), "a test").value();
    return *std::ranges::find(state.members, trial, &Pbt::Member::trial);
  }

  Scheduler rule;
  SideEffects effects;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pbt_suite)

BOOST_AUTO_TEST_CASE(the_worst_goes_on_from_the_checkpoint_that_the_best_had_when_it_was_judged) {
  Population all({});
  for (int trial = 3; trial >= 0; --trial) {
    BOOST_TEST((all.report(trial, 4, 10 - trial).verdict == Verdict::go_on));
    BOOST_TEST((all.report(trial, 5, 10 - trial).verdict == Verdict::go_on));
  }
  const Decision decision = all.report(3, 8, 1);
  BOOST_TEST((decision.verdict == Verdict::pause));
  BOOST_TEST(decision.reason == "PBT: 1 is among the worst 1 of 4 trials at iteration 8");
  BOOST_REQUIRE(all.effects.copies.size() == 1U);
  const SideEffects::Copy& copy = all.effects.copies.front();
  BOOST_TEST(copy.trial == 3);
  BOOST_TEST(copy.donor == 0);
  BOOST_TEST(copy.checkpoint == "checkpoint_4");
  BOOST_TEST(copy.iteration == 4);
  BOOST_TEST(all.rule.pinned().at(0) == std::vector<std::string>{"checkpoint_4"});
}

BOOST_AUTO_TEST_CASE(nobody_is_judged_before_its_interval_has_passed_or_while_it_burns_in) {
  Population all({{"burn_in_period", 10}}, 2);
  BOOST_TEST((all.report(1, 10, 0).verdict == Verdict::go_on));
  BOOST_TEST((all.report(0, 9, 5).verdict == Verdict::go_on));
  BOOST_TEST(!all.member(0).checkpoint.has_value());
  BOOST_TEST((all.report(0, 10, 5).verdict == Verdict::go_on));
  BOOST_TEST((all.report(1, 13, 0).verdict == Verdict::go_on));
  BOOST_TEST((all.report(1, 14, 0).verdict == Verdict::pause));
}

BOOST_AUTO_TEST_CASE(a_copy_counts_from_the_time_of_its_donor) {
  Population all({}, 2);
  all.report(1, 4, 0);
  all.report(0, 6, 5);
  all.report(1, 8, 0);
  BOOST_TEST(all.member(1).perturbed_at == 6);
  BOOST_TEST(all.member(1).trained == 6);
}

BOOST_AUTO_TEST_CASE(who_had_no_checkpoint_or_was_not_among_the_best_then_is_not_copied) {
  Population all({}, 2);
  all.report(1, 4, 0);
  all.report(0, 4, 5, false, false);
  BOOST_TEST((all.report(1, 8, 0).verdict == Verdict::go_on));
  // Nobody is the best of one: trial 0 is only since trial 1 was judged.
  Population later({}, 2);
  later.report(0, 4, 5);
  BOOST_TEST((later.report(1, 4, 0).verdict == Verdict::go_on));
}

BOOST_AUTO_TEST_CASE(quantiles_are_rounded_up_and_are_half_of_all_at_most) {
  const auto copies = [](int count, double fraction) {
    Population all({{"quantile_fraction", fraction}}, count);
    for (int time : {4, 8}) {
      for (int trial = 0; trial < count; ++trial) (void)all.report(trial, time, trial, false, time == 8);
    }
    int copied = 0;
    for (int trial = 0; trial < count; ++trial) {
      Population once = all;
      copied += once.report(trial, 100, trial).verdict == Verdict::pause ? 1 : 0;
    }
    return copied;
  };
  BOOST_TEST(copies(5, 0.25) == 2);
  BOOST_TEST(copies(3, 0.5) == 1);
  BOOST_TEST(copies(8, 0.25) == 2);
  BOOST_TEST(copies(4, 0) == 0);
}

BOOST_AUTO_TEST_CASE(a_score_that_is_no_number_is_the_worst) {
  Population all({}, 2);
  all.report(1, 4, std::nan(""));
  all.report(0, 4, -1e9);
  BOOST_TEST((all.report(1, 8, std::nan("")).verdict == Verdict::pause));
}

BOOST_AUTO_TEST_CASE(a_trial_that_was_judged_makes_way_for_others_and_the_least_trained_is_next) {
  Population all({}, 4);
  BOOST_TEST((all.report(0, 3, 5, true).verdict == Verdict::go_on));
  BOOST_TEST((all.report(0, 4, 5, true).verdict == Verdict::pause));
  BOOST_TEST(all.effects.copies.empty());
  all.report(1, 8, 5);
  BOOST_TEST(all.rule.choose({0, 1, 2}) == 2);
  BOOST_TEST(all.rule.choose({0, 1}) == 0);
}

BOOST_AUTO_TEST_CASE(ended_trials_are_neither_compared_nor_copied) {
  Population all({{"quantile_fraction", 0.5}}, 4);
  for (int trial = 3; trial >= 0; --trial) all.report(trial, 4, -trial);
  all.rule.removed(0, all.effects);
  BOOST_TEST((all.report(3, 8, -3).verdict == Verdict::pause));
  BOOST_REQUIRE(all.effects.copies.size() == 1U);
  BOOST_TEST(all.effects.copies.front().donor == 1);
}

BOOST_AUTO_TEST_CASE(in_step_all_trials_wait_for_the_last_and_are_judged_then) {
  Population all({{"synch", true}}, 4);
  BOOST_TEST((all.report(0, 3, 1).verdict == Verdict::go_on));
  BOOST_TEST((all.report(0, 4, 1).verdict == Verdict::pause));
  BOOST_TEST((all.report(1, 4, 8).verdict == Verdict::pause));
  BOOST_TEST((all.report(2, 5, 7).verdict == Verdict::pause));
  BOOST_TEST(all.effects.resumed.empty());
  BOOST_TEST((all.report(3, 4, 6).verdict == Verdict::go_on));
  BOOST_REQUIRE(all.effects.copies.size() == 1U);
  BOOST_TEST(all.effects.copies.front().trial == 0);
  BOOST_TEST(all.effects.copies.front().donor == 1);
  BOOST_TEST((all.effects.resumed == std::vector<std::int64_t>{1, 2}));
}

BOOST_AUTO_TEST_CASE(in_step_trials_that_are_still_to_come_are_waited_for) {
  Population all({{"synch", true}}, 2);
  all.report(0, 4, 1);
  BOOST_TEST((all.report(1, 4, 2, true).verdict == Verdict::pause));
  BOOST_TEST(all.effects.copies.empty());
  all.effects = {};
  all.rule.idle(all.effects);
  BOOST_REQUIRE(all.effects.copies.size() == 1U);
  BOOST_TEST(all.effects.copies.front().donor == 1);
}

BOOST_AUTO_TEST_CASE(in_step_nobody_waits_for_a_trial_that_has_ended) {
  Population all({{"synch", true}}, 3);
  all.report(0, 4, 1);
  all.report(1, 4, 2);
  all.effects = {};
  all.rule.removed(2, all.effects);
  BOOST_REQUIRE(all.effects.copies.size() == 1U);
  BOOST_TEST(all.effects.copies.front().trial == 0);
  BOOST_TEST((all.effects.resumed == std::vector<std::int64_t>{1}));
}

BOOST_AUTO_TEST_CASE(in_step_trials_whose_reports_are_far_apart_go_on) {
  Population all({{"synch", true}}, 2);
  all.report(0, 20, 2);
  BOOST_TEST((all.report(1, 20, 3).verdict == Verdict::go_on));
}

BOOST_AUTO_TEST_CASE(what_it_has_seen_comes_back_with_the_same_draws) {
  Population all({{"quantile_fraction", 0.5}}, 8, 7);
  for (int trial = 7; trial >= 0; --trial) all.report(trial, 4, 8 - trial);
  Scheduler restored = Scheduler::from_json(all.rule.to_json()).value();
  for (int trial = 4; trial < 8; ++trial) {
    all.report(trial, 20, 0);
    SideEffects effects;
    restored.reported({trial, 20, 0, 20, "checkpoint_20"}, effects);
    BOOST_REQUIRE(effects.copies.size() == 1U);
    BOOST_TEST(effects.copies.front().donor == all.effects.copies.front().donor);
  }
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_named) {
  const auto words = [](JsonObject arguments) {
    arguments["kind"] = "pbt";
    return Scheduler::make(std::move(arguments), "score", "max", 0).error().message;
  };
  BOOST_TEST(words({{"perturbation_interval", 0}}) ==
             "PopulationBasedTraining: perturbation_interval is 0; allowed: a number above 0");
  BOOST_TEST(words({{"quantile_fraction", 0.6}}) ==
             "PopulationBasedTraining: quantile_fraction is 0.6; allowed: a number from 0 to 0.5");
}

BOOST_AUTO_TEST_CASE(reports_may_lack_the_time_where_that_is_allowed) {
  const Population strict({});
  const Population lax({{"require_attrs", false}});
  BOOST_TEST(strict.rule.needs().size() == 2U);
  BOOST_TEST((lax.rule.needs() == std::vector<std::string>{"score"}));
  BOOST_TEST(!lax.rule.progress(0, {{"score", 1}}).has_value());
}

BOOST_AUTO_TEST_CASE(a_replay_changes_the_configuration_at_each_iteration_of_its_schedule) {
  Scheduler replay = Scheduler::make({{"kind", "pbt_replay"}, {"changes", {2, 5}}}, {}, {}, 0).value();
  const auto changes = [&](double iteration) {
    SideEffects effects;
    const bool pauses =
        replay.reported(*replay.progress(0, {{"training_iteration", iteration}}), effects).verdict == Verdict::pause;
    BOOST_TEST(effects.copies.size() == (pauses ? 1U : 0U));
    return pauses;
  };
  BOOST_TEST(!changes(1));
  BOOST_TEST(changes(2));
  BOOST_TEST(!changes(3));
  BOOST_TEST(changes(6));
  BOOST_TEST(!changes(7));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
