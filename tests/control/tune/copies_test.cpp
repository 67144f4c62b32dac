#include "control/tune/tune_controller.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

/// What becomes of trials that go on as copies of others.
namespace headway::control::tune {

namespace {

/// Two trials under PBT that run; both were judged, and trial 0 is the better one.
class TwoTrials {
 public:
  explicit TwoTrials(bool logs = true) {
    spec.path = "/experiment";
    spec.metric = "score";
    spec.mode = "max";
    spec.scheduler = {
        {"kind", "pbt"}, {"time_attr", "training_iteration"}, {"perturbation_interval", 2}, {"log_config", logs}};
    spec.restore.unfinished = true;
    begin();
    for (const char* id : {"a", "b"}) handle(TrialSuggested{id, R"({"lr": 1})", id, {}, std::string("tag ") + id});
    handle(SearchOver{});
    for (const std::int64_t trial : {0, 1}) handle(TrialReady{trial});
    report(1, 1, 2, 1);
    report(0, 1, 2, 9);
  }

  void begin() { handle(DriverBegan{spec, 0}); }
  void handle(const TuneEvent& event) {
    journal.push_back(to_line({}, event));
    last = controller.handle({}, event);
  }
  void report(std::int64_t trial, std::int64_t number, double iteration, double score) {
    handle(TrialReported{trial,
                         number,
                         {{"score", score}, {"training_iteration", iteration}},
                         {},
                         "checkpoint_" + std::to_string(static_cast<int>(iteration))});
  }
  /// The kinds of the last commands, without what tells ends.
  template <class Command>
  std::vector<Command> in_last() const {
    std::vector<Command> found;
    for (const TuneCommand& command : last) {
      if (const auto* it = std::get_if<Command>(&command)) found.push_back(*it);
    }
    return found;
  }
  TrialState state(std::size_t trial) const { return controller.trials().at(trial).state; }

  ExperimentSpec spec;
  TuneController controller;
  std::vector<std::string> journal;
  TuneCommands last;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(copies_suite)

BOOST_AUTO_TEST_CASE(a_copy_starts_once_its_processes_are_gone_and_it_has_configuration_and_checkpoint) {
  TwoTrials two;
  BOOST_TEST((two.in_last<PinCheckpoints>().front().names == std::vector<std::string>{"checkpoint_2"}));
  two.report(1, 2, 4, 1);
  BOOST_TEST(two.in_last<AnswerTrial>().front().decision.reason ==
             "PBT: 1 is among the worst 1 of 2 trials at iteration 4; it continues from checkpoint_2 of trial a");
  BOOST_REQUIRE(two.in_last<AskConfig>().size() == 1U);
  two.handle(TrialConfigured{1, 1, R"({"lr": 2})"});
  BOOST_TEST(two.in_last<CloneCheckpoint>().empty());
  two.handle(TrialGone{1, "finished", ""});
  const CloneCheckpoint clone = two.in_last<CloneCheckpoint>().front();
  BOOST_TEST(clone.donor == 0);
  BOOST_TEST(clone.checkpoint == "checkpoint_2");
  BOOST_TEST(two.in_last<StartTrial>().empty());
  two.handle(CheckpointCloned{1, 1, "checkpoint_4"});
  const StartTrial start = two.in_last<StartTrial>().front();
  BOOST_TEST(start.resumes);
  BOOST_TEST(start.copied);
  BOOST_TEST(two.controller.trials()[1].config == R"({"lr": 2})");
  BOOST_TEST(*two.controller.trials()[1].checkpoint == "checkpoint_4");
  BOOST_TEST(two.in_last<LogPolicy>().size() == 1U);
  BOOST_TEST(two.controller.policy_log().front() == R"(["tag b", "tag a", 4, 2, {"lr": 1}, {"lr": 2}])");
}

BOOST_AUTO_TEST_CASE(a_donor_keeps_its_checkpoint_until_the_copy_has_it_however_far_it_goes) {
  TwoTrials two;
  two.report(1, 2, 4, 1);
  two.report(0, 2, 4, 9);
  BOOST_TEST((two.in_last<PinCheckpoints>().front().names == std::vector<std::string>{"checkpoint_4", "checkpoint_2"}));
  // Before the answer: the trial commits its next checkpoint only after that.
  BOOST_TEST(std::holds_alternative<PinCheckpoints>(two.last.front()));
  two.handle(TrialConfigured{1, 1, "{}"});
  two.handle(TrialGone{1, "finished", ""});
  two.handle(CheckpointCloned{1, 1, "checkpoint_4"});
  BOOST_TEST((two.in_last<PinCheckpoints>().front().names == std::vector<std::string>{"checkpoint_4"}));
}

BOOST_AUTO_TEST_CASE(a_copy_that_fails_goes_on_as_it_was) {
  TwoTrials two;
  two.report(1, 2, 4, 1);
  two.handle(TrialGone{1, "finished", ""});
  two.handle(TrialConfigured{1, 1, "{}"});
  two.handle(CheckpointCloned{1, 1, {}});
  BOOST_TEST(!two.in_last<StartTrial>().front().copied);
  BOOST_TEST(two.controller.trials()[1].config == R"({"lr": 1})");
  BOOST_TEST(two.controller.policy_log().empty());
}

BOOST_AUTO_TEST_CASE(a_trial_that_is_ended_while_its_checkpoint_comes_ends_after_that) {
  TwoTrials two;
  two.report(1, 2, 4, 1);
  two.handle(TrialGone{1, "finished", ""});
  two.handle(TrialConfigured{1, 1, "{}"});
  two.handle(TrialStopAsked{1, "the user said so"});
  BOOST_TEST((two.state(1) == TrialState::paused));
  two.handle(CheckpointCloned{1, 1, "checkpoint_4"});
  BOOST_TEST((two.state(1) == TrialState::terminated));
  BOOST_TEST(two.in_last<StartTrial>().empty());
}

BOOST_AUTO_TEST_CASE(the_next_driver_finishes_a_copy_that_was_begun) {
  TwoTrials two;
  two.report(1, 2, 4, 1);
  two.begin();
  BOOST_REQUIRE(two.in_last<AskConfig>().size() == 1U);
  two.handle(TrialConfigured{1, 1, R"({"lr": 3})"});
  BOOST_TEST(two.in_last<CloneCheckpoint>().size() == 1U);
  two.begin();
  BOOST_TEST(two.in_last<AskConfig>().empty());
  BOOST_TEST(two.in_last<CloneCheckpoint>().front().number == 1);
  two.handle(CheckpointCloned{1, 1, "checkpoint_4"});
  BOOST_TEST(two.controller.trials()[1].config == R"({"lr": 3})");
}

BOOST_AUTO_TEST_CASE(no_policy_is_kept_where_none_is_logged) {
  TwoTrials two(false);
  two.report(1, 2, 4, 1);
  two.handle(TrialGone{1, "finished", ""});
  two.handle(TrialConfigured{1, 1, "{}"});
  two.handle(CheckpointCloned{1, 1, "checkpoint_4"});
  BOOST_TEST(two.in_last<LogPolicy>().empty());
  BOOST_TEST(two.in_last<StartTrial>().size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
