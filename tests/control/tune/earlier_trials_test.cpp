#include "control/tune/tune_controller.hpp"

#include <boost/test/unit_test.hpp>

/// What a driver makes of the trials of those before it.
namespace headway::control::tune {

namespace {

/// An experiment with four trials that have begun, all but the last one's ranks are ready.
struct Experiment {
  Experiment() {
    spec.path = "/experiment";
    spec.metric = "score";
    handle(DriverBegan{spec, 0});
    for (const char* id : {"t0", "t1", "t2", "t3"}) handle(TrialSuggested{id, "{}", id});
    for (const std::int64_t trial : {0, 1, 2}) handle(TrialReady{trial});
  }
  void handle(const TuneEvent& event) {
    journal.push_back(to_line({}, event));
    for (TuneCommand& command : controller.handle({}, event)) commands.push_back(std::move(command));
  }
  template <class Command>
  std::vector<Command> all() const {
    std::vector<Command> found;
    for (const TuneCommand& command : commands) {
      if (const auto* it = std::get_if<Command>(&command)) found.push_back(*it);
    }
    return found;
  }
  std::vector<std::int64_t> started() const {
    std::vector<std::int64_t> trials;
    for (const StartTrial& start : all<StartTrial>()) trials.push_back(start.trial);
    return trials;
  }

  ExperimentSpec spec;
  TuneController controller;
  std::vector<std::string> journal;
  TuneCommands commands;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(earlier_trials_suite, Experiment)

BOOST_AUTO_TEST_CASE(the_ends_of_runs_that_a_killed_driver_had_not_written_count) {
  handle(TrialReported{2, 1, {{"score", 0.5}}});
  spec.restore.unfinished = true;
  commands.clear();
  handle(DriverBegan{spec, 0, {{{2, "finished", ""}, {1, "errored", "ValueError: bad"}}}});
  const std::vector<TellEnd> told = all<TellEnd>();
  BOOST_REQUIRE(told.size() == 2U);
  BOOST_TEST((told[0].trial == 1 && told[0].state == "errored" && told[0].reason == "ValueError: bad"));
  BOOST_TEST((told[1].trial == 2 && told[1].state == "terminated"));
  BOOST_TEST(told[1].reason == "it has returned after 1 report");
  BOOST_TEST((started() == std::vector<std::int64_t>{0, 3}));
  // The journal says so to the driver after this one.
  TuneController again;
  for (const std::string& line : journal) {
    const LoggedEvent logged = from_line(line).value();
    (void)again.handle(logged.at, logged.event);
  }
  BOOST_TEST((again.trials()[2].state == TrialState::terminated));
}

BOOST_AUTO_TEST_CASE(a_trial_that_another_one_replaces_never_goes_on) {
  for (const std::int64_t trial : {2, 3}) handle(TrialGone{trial, "finished", ""});
  handle(TrialGone{0, "errored", "bad"});
  handle(DriverBegan{spec, 0});
  for (const std::int64_t replaced : {0, 1}) {
    const std::string id = "again" + std::to_string(replaced);
    handle(TrialSuggested{id, "{}", id, replaced});
  }
  spec.restore = {true, true};
  for (int driver = 0; driver < 2; ++driver) {
    commands.clear();
    handle(DriverBegan{spec, 0});
    BOOST_TEST((started() == std::vector<std::int64_t>{4, 5}));
  }
  BOOST_TEST((controller.trials()[0].replaced && controller.trials()[1].replaced && !controller.trials()[4].replaced));
}

BOOST_AUTO_TEST_CASE(what_has_ended_keeps_only_what_decisions_need) {
  handle(TrialReported{0, 1, {{"score", 0.5}}});
  controller.forget_ended(0);
  BOOST_TEST(controller.trials()[0].last.size() == 1U);
  handle(TrialGone{0, "finished", ""});
  controller.forget_ended(0);
  BOOST_TEST(controller.trials()[0].last.empty());
  BOOST_TEST(controller.trials()[0].config.empty());
  BOOST_TEST(controller.trials()[0].trial_id == "t0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
