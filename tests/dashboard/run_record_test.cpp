#include "dashboard/run_record.hpp"

#include "dashboard/step_map.hpp"

#include <boost/test/unit_test.hpp>

/// What a run's history tells, and where its time went.
namespace headway::dashboard {

namespace {

using driver::RankSteps;

struct Told {
  void tell(double at, driver::HistoryEvent event) {
    const auto logged = driver::parse_history_line(driver::history_line(at, std::move(event)));
    BOOST_REQUIRE(logged.has_value());
    record.add(*logged);
  }
  RunRecord record;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run_record_suite, Told)

BOOST_AUTO_TEST_CASE(attempts_have_a_beginning_an_end_and_a_reason) {
  tell(10, driver::AttemptBegan{1, {"a", "b"}, {}});
  tell(20, driver::AttemptEnded{1, "rank 1 died: SIGKILL"});
  tell(21, driver::AttemptBegan{2, {"a", "b"}, "checkpoint_000002"});
  // Its driver is killed; another one takes the run up.
  tell(50, driver::AttemptBegan{3, {"a"}, {}});
  tell(60, driver::RunEnded{"finished"});
  const auto& attempts = record.attempts();
  BOOST_REQUIRE(attempts.size() == 3U);
  BOOST_TEST(attempts[0].end_s.value() == 20);
  BOOST_TEST(attempts[0].end_words == "rank 1 died: SIGKILL");
  BOOST_TEST(attempts[1].resumed_from.value() == "checkpoint_000002");
  BOOST_TEST(attempts[1].end_words == "its driver ended");
  BOOST_TEST(attempts[2].end_words == "finished");
  BOOST_TEST(attempts[2].workers == 1);
}

BOOST_AUTO_TEST_CASE(checkpoints_are_kept_until_they_are_deleted_for_a_reason) {
  tell(10, driver::CheckpointStored{"checkpoint_000000", 0, 1000, 2, 0.5});
  tell(20, driver::CheckpointStored{"checkpoint_000001", 1, {}, 0, 0.25});
  tell(21, driver::CheckpointGone{"checkpoint_000000", "num_to_keep is 1"});
  const auto& checkpoints = record.checkpoints();
  BOOST_REQUIRE(checkpoints.size() == 2U);
  BOOST_TEST(checkpoints[0].size_bytes.value() == 1000);
  BOOST_TEST(!checkpoints[0].kept);
  BOOST_TEST(checkpoints[0].why_deleted.value() == "num_to_keep is 1");
  BOOST_TEST(checkpoints[1].kept);
  BOOST_TEST(!checkpoints[1].size_bytes.has_value());
  BOOST_TEST(checkpoints[1].seconds.value() == 0.25);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_has_its_last_validation) {
  tell(10, driver::CheckpointStored{"checkpoint_000000", 0, 1000, 2, 0.5});
  tell(20, driver::CheckpointValidated{"checkpoint_000000", {}, "ValueError: no data", {}});
  tell(30, driver::CheckpointValidated{"checkpoint_000000", {{"accuracy", 0.5}}, {}, 4.0});
  const auto& validation = record.checkpoints()[0].validation;
  BOOST_REQUIRE(validation.has_value());
  BOOST_TEST(validation->metrics.at("accuracy").as_double() == 0.5);
  BOOST_TEST(validation->seconds.value() == 4);
  BOOST_REQUIRE(record.validations().size() == 2U);
  BOOST_TEST(record.validations()[0].error.value() == "ValueError: no data");
}

BOOST_AUTO_TEST_CASE(what_no_version_knows_is_left_out) {
  BOOST_TEST(!driver::parse_history_line("").has_value());
  BOOST_TEST(!driver::parse_history_line("{\"at\":1,\"is\":\"of_the_future\",\"event\":{}}").has_value());
  BOOST_TEST(!driver::parse_history_line("{\"at\":1,\"is\":\"attempt_began\",\"event\":7}").has_value());
}

BOOST_AUTO_TEST_CASE(time_goes_to_what_took_it) {
  tell(0, driver::AttemptBegan{1, {"a", "b"}, {}});
  tell(10, driver::StepsTaken{1, {RankSteps{0, 10, 9, 6.0, 1, 2}, RankSteps{1, 10, 9, 4.0, 1, 2}}});
  tell(10, driver::DataWaited{2, 20});
  tell(30, driver::StepsTaken{1, {RankSteps{0, 20, 29, 16.0, 1, 2}, RankSteps{1, 20, 29, 14.0, 1, 2}}});
  const StepMap map = step_map(record, 3);
  BOOST_TEST(map.ranks == (std::vector<int>{0, 1}), boost::test_tools::per_element());
  BOOST_TEST(map.from_s.value() == 0);
  BOOST_TEST(map.to_s.value() == 30);
  // Without waiting, by which both steps end together.
  BOOST_TEST(map.cells[0][0].value() == 0.3);
  BOOST_TEST(map.cells[1][0].value() == 0.5);
  BOOST_TEST(map.cells[1][2].value() == 1);
  BOOST_REQUIRE(map.split.size() == 2U);
  BOOST_TEST(map.split[0].report.value() == 1);
  BOOST_TEST(map.split[0].checkpoint.value() == 2);
  BOOST_TEST(map.split[0].communication.value() == 2);
  BOOST_TEST(map.split[0].data.value() == 0.9);
  BOOST_TEST(map.split[0].compute.value() == 3.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(!map.split[0].forward.has_value());
  BOOST_TEST(map.split[1].communication.value() == 10);
  BOOST_TEST(!map.split[1].data.has_value());
}

BOOST_AUTO_TEST_CASE(a_list_of_attempts_does_not_say_twice_which_one_it_was) {
  const auto said = [](const std::string& words) { return without_attempt(words); };
  BOOST_TEST(said("rank 1 was killed by SIGKILL, in attempt 12\nin the log, in attempt 12") ==
             "rank 1 was killed by SIGKILL\nin the log, in attempt 12");
  BOOST_TEST(said("rank 1 exited, in attempt 2: no memory") == "rank 1 exited: no memory");
  for (const char* whole : {"", "ValueError: bad", "bad, in attempt ", "bad, in attempt two", "bad, in attempt 2 of it",
                            "bad\nthen, in attempt 2"}) {
    BOOST_TEST(said(whole) == whole);
  }
  tell(0, driver::AttemptBegan{2, {"a"}, {}});
  tell(1, driver::AttemptEnded{2, "rank 0 died, in attempt 2\nmore"});
  BOOST_TEST(record.attempts()[0].end_words == "rank 0 died\nmore");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
