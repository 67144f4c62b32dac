#include "driver/historian.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

/// Which of a run's events are kept for those who look at it later.
namespace headway::driver {

namespace {

using namespace std::chrono_literals;

struct Told {
  /// The lines that an event and the commands that it led to leave.
  std::vector<LoggedHistory> hear(const control::Event& event, const control::Commands& commands = {}) {
    std::vector<LoggedHistory> logged;
    std::istringstream lines(historian.lines(now, 1000 + to_seconds(now.time_since_epoch()), event, commands));
    for (std::string line; std::getline(lines, line);) logged.push_back(parse_history_line(line).value());
    return logged;
  }
  template <class Event>
  Event only(const std::vector<LoggedHistory>& logged) {
    BOOST_REQUIRE(logged.size() == 1U);
    return std::get<Event>(logged.front().event);
  }
  control::StartWorkers start(int attempt) const {
    control::StartWorkers command;
    command.attempt = attempt;
    command.plans.resize(2);
    command.plans[0].slot.hostname = "a";
    command.plans[1].slot.hostname = "b";
    return command;
  }
  Historian historian;
  Time now{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(historian_suite, Told)

BOOST_AUTO_TEST_CASE(attempts_begin_and_end) {
  const auto began = only<AttemptBegan>(hear(control::StartAsked{}, {start(1)}));
  BOOST_TEST(began.attempt == 1);
  BOOST_TEST(began.hosts == (std::vector<std::string>{"a", "b"}), boost::test_tools::per_element());
  control::RunFailure failure;
  failure.message = "rank 1 died";
  now += 5s;
  const auto lines = hear(control::StartAsked{}, {control::TellFailure{1, failure}});
  BOOST_TEST(only<AttemptEnded>(lines).words == "rank 1 died");
  BOOST_TEST(lines.front().at_unix_s == 1005);
  control::Finish finish;
  finish.outcome.state = "errored";
  BOOST_TEST(only<RunEnded>(hear(control::StartAsked{}, {finish})).state == "errored");
}

BOOST_AUTO_TEST_CASE(a_checkpoint_is_there_once_it_is_durable) {
  BOOST_TEST(hear(control::StartAsked{}, {control::BeginCheckpoint{1, 4, "checkpoint_000004"}}).empty());
  now += 2s;
  control::CommitCheckpoint commit;
  commit.index = 4;
  commit.manifest.checkpoint = "checkpoint_000004";
  commit.manifest.index = 9;
  commit.manifest.files = {{"model", 100, "", 0}, {"state", 20, "", 1}};
  BOOST_TEST(hear(control::StartAsked{}, {commit}).empty());
  now += 1s;
  const auto stored = only<CheckpointStored>(hear(control::CheckpointCommitted{4, {}}));
  BOOST_TEST(stored.name == "checkpoint_000004");
  BOOST_TEST(stored.report == 9);
  BOOST_TEST(stored.bytes.value() == 120);
  BOOST_TEST(stored.seconds.value() == 3);
  BOOST_TEST(hear(control::CheckpointCommitted{4, {}}).empty());
  hear(control::StartAsked{}, {commit});
  BOOST_TEST(hear(control::CheckpointCommitted{4, Error{ErrorKind::unavailable, "full"}}).empty());
}

BOOST_AUTO_TEST_CASE(a_validation_has_an_outcome) {
  const auto begin = [&](std::int64_t number, const std::string& checkpoint) {
    BOOST_TEST(hear(control::StartAsked{}, {control::StartValidation{number, checkpoint, {}, {}}}).empty());
    now += 1s;
    BOOST_TEST(hear(control::ValidationStarted{number}).empty());
    now += 2s;
  };
  begin(1, "checkpoint_000004");
  const auto good = only<CheckpointValidated>(hear(control::ValidationFinished{1, {{"accuracy", 0.5}}}));
  BOOST_TEST(good.name == "checkpoint_000004");
  BOOST_TEST(good.metrics.at("accuracy").as_double() == 0.5);
  BOOST_TEST(!good.error.has_value());
  BOOST_TEST(good.seconds.value() == 2);
  BOOST_TEST(hear(control::ValidationExited{1, {}, ""}).empty());
  begin(2, "checkpoint_000005");
  RankError raised;
  raised.type = "ValueError";
  raised.message = "no data";
  BOOST_TEST(only<CheckpointValidated>(hear(control::ValidationFailed{2, raised})).error.value() == to_text(raised));
  begin(3, "checkpoint_000006");
  const auto died = only<CheckpointValidated>(hear(control::ValidationExited{3, ExitStatus{true, 9, ""}, ""}));
  BOOST_TEST(died.error.value().find("SIGKILL") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(time_in_reports_is_told_with_the_steps) {
  hear(control::StartAsked{}, {start(1)});
  hear(control::RankReported{1, 0, 0, {}, {}});
  now += 2s;
  hear(control::StartAsked{}, {control::AnswerReport{1, 0, 0, {}, {}}});
  hear(control::RankReported{1, 0, 1, {}, {}});
  now += 3s;
  hear(control::StartAsked{}, {control::AnswerReport{1, 0, 1, "checkpoint_000001", {}}});
  control::KeepStepTimes keep;
  keep.times.attempt = 1;
  keep.times.ranks = {{0, "a", Times{10, 8, 0.8, 1, 1}, {}, 0.75}, {1, "b", {}, Times{2, 3, 1, 2, 2}, {}}};
  const auto taken = only<StepsTaken>(hear(control::StartAsked{}, {keep}));
  BOOST_REQUIRE(taken.ranks.size() == 2U);
  BOOST_TEST(taken.ranks[0].count == 10);
  BOOST_TEST(taken.ranks[0].waited_s.value() == 6);
  BOOST_TEST(taken.ranks[0].report_s == 2);
  BOOST_TEST(taken.ranks[0].checkpoint_s == 3);
  BOOST_TEST(taken.ranks[1].of_reports);
  BOOST_TEST(!taken.ranks[1].waited_s.has_value());
}

BOOST_AUTO_TEST_CASE(stacks_and_warnings_are_kept_and_long_texts_cut) {
  control::RanksExamined seen;
  seen.attempt = 2;
  seen.processes[3] = {std::string(100'000, 'x'), 0, 0};
  const auto stacks = only<StacksSeen>(hear(seen));
  BOOST_TEST(stacks.ranks.at(0).rank == 3);
  BOOST_TEST(stacks.ranks.at(0).text.size() < 20'000U);
  BOOST_TEST(only<Warned>(hear(control::StartAsked{}, {control::Warn{"look here"}})).text == "look here");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
