#include "dashboard/restarts.hpp"

#include <boost/test/unit_test.hpp>

/// What is said of restarts: no more than a run's files tell.
namespace headway::dashboard {

namespace {

struct Restarted {
  RunRecord record;
  Series series;
  void began(int attempt, std::optional<std::string> checkpoint = {}) {
    record.add({static_cast<double>(attempt), driver::AttemptBegan{attempt, {"a", "b"}, std::move(checkpoint)}});
  }
  void ended(int attempt, const std::string& words) {
    record.add({attempt + 0.5, driver::AttemptEnded{attempt, words}});
  }
  void reported(int attempt, int from, int to) {
    for (int step = from; step <= to; ++step) {
      JsonObject line{{"training_iteration", step}, {"attempt", attempt}};
      if (step % 5 == 0) line["checkpoint_dir_name"] = "checkpoint_" + std::to_string(step);
      series.add(line);
    }
  }
  std::string words() const { return restart_words(record, series).value_or("none"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(restarts_suite, Restarted)

BOOST_AUTO_TEST_CASE(a_restart_says_why_from_where_and_what_was_lost) {
  began(1);
  reported(1, 1, 7);
  BOOST_TEST(words() == "none");
  ended(1, "rank 1 was killed by SIGKILL, in attempt 1\nits last lines");
  began(2, "checkpoint_5");
  reported(2, 8, 20);
  BOOST_TEST(
      words() ==
      "restarted once: rank 1 was killed by SIGKILL (perhaps out of memory, by the scheduler, or by hand), after "
      "report 7; resumed from checkpoint_5, the work of 2 reports was lost");
  ended(2, "rank 0 exited with code 3, in attempt 2");
  began(3, "checkpoint_20");
  BOOST_TEST(words() ==
             "restarted 2 times, last: rank 0 exited with code 3, after report 20; resumed from "
             "checkpoint_20, that of the last report");
}

BOOST_AUTO_TEST_CASE(without_a_checkpoint_all_is_lost) {
  began(1);
  reported(1, 1, 1);
  ended(1, "rank 0 died");
  began(2);
  BOOST_TEST(words() ==
             "restarted once: rank 0 died, after report 1; began anew, without a checkpoint, the work of 1 "
             "report was lost");
}

BOOST_AUTO_TEST_CASE(what_no_file_tells_is_left_out) {
  began(1);
  ended(1, "rank 0 died");
  began(2, "checkpoint_9");
  BOOST_TEST(words() == "restarted once: rank 0 died; resumed from checkpoint_9");
  reported(2, 1, 3);
  BOOST_TEST(words() == "restarted once: rank 0 died, before the first report; resumed from checkpoint_9");
  began(3, "checkpoint_9");
  BOOST_TEST(words() == "restarted 2 times, last: its driver ended, after report 3; resumed from checkpoint_9");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
