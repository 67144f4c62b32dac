#include "control/tune/tune_controller.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

/// Experiments whose scheduler a user has written.
namespace headway::control::tune {

namespace {

/// Up to three trials under ASHA, one at a time unless said otherwise.
class Front {
 public:
  explicit Front(int trials, std::optional<int> max_concurrent = 1) {
    spec.path = "/experiment";
    spec.metric = "score";
    spec.mode = "max";
    spec.scheduler = {{"kind", "asha"}, {"max_t", 4}, {"reduction_factor", 2}};
    spec.max_concurrent = max_concurrent;
    spec.overrules = spec.chooses = true;
    handle(DriverBegan{spec, 0});
    for (int i = 0; i < trials; ++i) handle(TrialSuggested{std::to_string(i), "{}", std::to_string(i), {}});
    handle(SearchOver{});
  }
  void handle(const TuneEvent& event) {
    for (TuneCommand& command : controller.handle({}, event)) commands.push_back(std::move(command));
  }
  void run(std::int64_t trial) {
    handle(TrialChosen{trial});
    handle(TrialReady{trial});
  }
  void report(std::int64_t trial, std::int64_t number, double score) {
    handle(TrialReported{trial, number, {{"score", score}, {"training_iteration", static_cast<double>(number)}}});
  }
  template <class Command>
  const Command& newest() const {
    for (auto each = commands.rbegin(); each != commands.rend(); ++each) {
      if (const auto* it = std::get_if<Command>(&*each)) return *it;
    }
    throw std::runtime_error("no such command");
  }

  ExperimentSpec spec;
  TuneController controller;
  TuneCommands commands;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(front_decides_suite)

BOOST_AUTO_TEST_CASE(trials_that_wait_for_slots_have_the_order_in_which_they_were_chosen) {
  Front front(3, std::nullopt);
  const auto questions = [&] {
    return std::ranges::count_if(front.commands,
                                 [](const TuneCommand& each) { return std::holds_alternative<AskTrial>(each); });
  };
  BOOST_TEST(questions() == 1);
  front.handle(TrialChosen{2});
  BOOST_TEST(questions() == 1);  // Trial 2 may still wait for slots.
  front.handle(TrialReady{2});
  BOOST_TEST(questions() == 2);
}

BOOST_AUTO_TEST_CASE(the_front_end_says_which_trial_starts_and_hears_the_schedulers_decision) {
  Front front(3);
  front.run(2);
  BOOST_TEST(front.newest<StartTrial>().trial == 2);
  front.report(2, 1, 5);
  BOOST_TEST((front.newest<AskVerdict>().decision.verdict == Verdict::go_on));
  front.handle(FrontDecided{2, 1, Verdict::stop, "the user says so"});
  front.handle(TrialGone{2, "finished", ""});
  BOOST_TEST(front.controller.trials()[2].reason == "the user says so");
  front.run(0);
  front.report(0, 1, 1);
  BOOST_TEST((front.newest<AskVerdict>().decision.verdict == Verdict::stop));
  // Whoever agrees has the scheduler's words.
  front.handle(FrontDecided{0, 1, Verdict::stop, ""});
  BOOST_TEST(front.newest<AnswerTrial>().decision.reason.starts_with("ASHA: 1 is below"));
}

BOOST_AUTO_TEST_CASE(a_trial_goes_on_where_the_front_end_says_so) {
  Front front(2);
  front.run(0);
  front.report(0, 1, 5);
  front.handle(FrontDecided{0, 1, Verdict::stop, "the user says so"});
  front.handle(TrialGone{0, "finished", ""});
  front.run(1);
  front.report(1, 1, 1);
  front.handle(FrontDecided{1, 1, Verdict::go_on, ""});
  BOOST_TEST((front.newest<AnswerTrial>().decision.verdict == Verdict::go_on));
}

BOOST_AUTO_TEST_CASE(a_trial_that_the_front_end_pauses_waits_for_a_place_alone) {
  Front front(1);
  front.run(0);
  front.report(0, 1, 5);
  front.handle(FrontDecided{0, 1, Verdict::pause, "the user says so"});
  front.handle(TrialGone{0, "finished", ""});
  BOOST_TEST((front.newest<AskTrial>().candidates == std::vector<std::int64_t>{0}));
  front.run(0);
  BOOST_TEST(front.newest<StartTrial>().start == 2);
}

BOOST_AUTO_TEST_CASE(where_no_trial_is_chosen_and_none_runs_the_first_one_starts) {
  Front front(2);
  front.handle(TrialChosen{-1});
  BOOST_TEST(front.newest<StartTrial>().trial == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
