#include "experiment_bench.hpp"

#include <boost/test/unit_test.hpp>

/// Trials whose functions have returned, and whose processes end.
namespace headway::control::tune {

BOOST_AUTO_TEST_SUITE(returned_trials_suite)

BOOST_AUTO_TEST_CASE(a_trial_whose_function_has_returned_leaves_its_place_to_the_next_one) {
  ExperimentSpec spec;
  spec.max_concurrent = 1;
  spec.prepares = 1;
  Bench bench(spec);
  bench.begin();
  bench.suggest(4);
  bench.handle(TrialReady{0});
  bench.suggest(4);
  BOOST_TEST((bench.controller.held() == std::set<std::int64_t>{1}));
  bench.handle(TrialReturned{0});
  BOOST_TEST(bench.in<ReleaseTrial>(bench.last).front().trial == 1);
  BOOST_TEST(bench.in<TellEnd>(bench.all).empty());  // Its processes may still be at their end.
  bench.handle(TrialReady{1});
  bench.suggest(4);
  bench.handle(TrialReturned{0});  // Said twice it counts once.
  bench.gone(0);
  BOOST_TEST(bench.in<TellEnd>(bench.last).front().reason == "it has returned after 0 reports");
  BOOST_TEST(bench.in<ReleaseTrial>(bench.all).size() == 1U);  // The place is the other one's.
  bench.gone(1);
  BOOST_TEST(bench.in<ReleaseTrial>(bench.last).front().trial == 2);
}

BOOST_AUTO_TEST_CASE(a_search_that_learns_is_asked_when_it_can_know_of_the_end) {
  ExperimentSpec spec;
  spec.max_concurrent = 1;
  Bench bench(spec);
  bench.begin();
  bench.suggest(2);
  bench.handle(TrialReady{0});
  bench.handle(TrialReturned{0});
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).empty());
  bench.gone(0);
  BOOST_TEST(bench.in<AskSuggestions>(bench.last).size() == 1U);
}

BOOST_AUTO_TEST_CASE(who_chooses_a_trial_for_a_place_knows_of_the_end_before) {
  ExperimentSpec spec;
  BOOST_TEST(!chooses_among_trials(spec));
  spec.chooses = true;
  BOOST_TEST(chooses_among_trials(spec));
  ExperimentSpec population;
  population.scheduler = {{"kind", "pbt"}};
  BOOST_TEST(chooses_among_trials(population));
  spec.max_concurrent = 1;
  Bench bench(spec);
  bench.begin();
  bench.suggest(2);
  bench.handle(TrialChosen{0});
  bench.handle(TrialReady{0});
  bench.handle(TrialReturned{0});
  BOOST_TEST(bench.in<AskTrial>(bench.last).empty());
}

BOOST_AUTO_TEST_CASE(a_trial_that_had_returned_when_its_driver_died_has_a_place_again) {
  ExperimentSpec spec;
  spec.max_concurrent = 1;
  spec.restore.unfinished = true;
  Bench bench(spec);
  bench.begin();
  bench.suggest(2);
  bench.handle(TrialReady{0});
  bench.handle(TrialReturned{0});
  bench.begin();
  BOOST_TEST((bench.started() == std::vector<std::int64_t>{0, 0}));
  bench.handle(TrialReady{0});
  bench.suggest(2);
  BOOST_TEST(bench.started().size() == 2U);  // No second trial beside it.
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
