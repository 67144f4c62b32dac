#include "control/tune/tune_controller.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

/// Trials in brackets of HyperBand, over several drivers.
namespace headway::control::tune {

BOOST_AUTO_TEST_SUITE(restored_brackets_suite)

BOOST_AUTO_TEST_CASE(a_paused_trial_that_one_driver_left_and_the_next_resumes_waits_for_no_bracket) {
  ExperimentSpec spec;
  spec.path = "/experiment";
  spec.metric = "score";
  spec.mode = "max";
  spec.scheduler = {{"kind", "hyperband"}, {"max_t", 3}, {"bohb", true}};
  TuneController controller;
  TuneCommands last;
  const auto handle = [&](const TuneEvent& event) { last = controller.handle({}, event); };
  const auto drive = [&](bool unfinished) {
    spec.restore.unfinished = unfinished;
    handle(DriverBegan{spec, 0});
  };
  drive(true);
  handle(TrialSuggested{"a", "{}", "a"});
  handle(TrialReady{0});
  handle(TrialReported{0, 1, {{"score", 1}, {"training_iteration", 1}}});
  handle(TrialGone{0, "finished", ""});
  BOOST_TEST((controller.trials()[0].state == TrialState::paused));
  drive(false);
  drive(true);
  BOOST_TEST(std::ranges::any_of(last, [](const auto& each) { return std::holds_alternative<StartTrial>(each); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
