#include "dashboard/straggler.hpp"

#include <boost/test/unit_test.hpp>

/// Which rank the others wait for, and what is said of the cost.
namespace headway::dashboard {

namespace {

using driver::RankSteps;

/// Four ranks of 400 steps, in an attempt of `took_s`: rank 2 needs 1 s for its part of each, the
/// others 0.5 s.
struct Slow {
  RunRecord record;
  std::vector<RankSteps> ranks;
  Slow() {
    for (int rank = 0; rank < 4; ++rank) ranks.push_back({rank, 400, 440, rank == 2 ? 40.0 : 240.0});
  }
  std::optional<Straggler> found(double took_s = 440, bool over = true) {
    RunRecord record;
    record.add({1000, driver::AttemptBegan{1, {"a", "b", "c", "d"}, {}}});
    record.add({1000 + took_s, driver::StepsTaken{1, ranks}});
    return straggler_in(record, over);
  }
  std::string cost(double took_s) {
    const std::string words = found(took_s).value().words;
    return words.substr(words.find("others") + 6);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(straggler_suite, Slow)

BOOST_AUTO_TEST_CASE(the_rank_that_the_others_wait_for_is_named_with_what_it_costs) {
  const auto straggler = found();
  BOOST_REQUIRE(straggler.has_value());
  BOOST_TEST(straggler->rank == 2);
  BOOST_TEST(straggler->lost_s == 200);
  BOOST_TEST(straggler->words ==
             "rank 2 on c was 2.0 times slower than the others: about 3 of the 7 minutes were spent waiting for it");
  BOOST_TEST(straggler->detail == "took 1.00 s for its own part of a step (without waiting), the others 0.5 s");
  const auto now = found(440, false);
  BOOST_TEST(now->words ==
             "rank 2 on c is 2.0 times slower than the others: about 3 of the 7 minutes so far were "
             "spent waiting for it");
  BOOST_TEST(now->detail == "takes 1.00 s for its own part of a step (without waiting), the others 0.5 s");
}

BOOST_AUTO_TEST_CASE(the_cost_has_a_unit_that_suits_the_run) {
  BOOST_TEST(cost(299) == ": about 200 of the 299 seconds were spent waiting for it");
  BOOST_TEST(cost(3600) == ": about 3 of the 60 minutes were spent waiting for it");
  BOOST_TEST(cost(9000) == ": about 0.1 of the 2.5 hours were spent waiting for it");
  BOOST_TEST(cost(100'000) == ": less than 1 of the 28 hours was spent waiting for it");
  for (RankSteps& rank : ranks) rank = {rank.rank, 40, 44, rank.rank == 2 ? 40.0 : 43.0};
  BOOST_TEST(cost(3000) == ": less than 1 of the 50 minutes was spent waiting for it");
  for (RankSteps& rank : ranks) rank = {rank.rank, 40, 6, rank.rank == 2 ? 1.0 : 3.2};
  BOOST_TEST(cost(8) == ": about 2.2 of the 8.0 seconds were spent waiting for it");
}

BOOST_AUTO_TEST_CASE(no_cost_is_said_that_the_times_do_not_bear_out) {
  // More than the attempt took, and an attempt whose beginning is not known.
  BOOST_TEST(cost(100) == ", which waited for it");
  RunRecord no_beginning;
  no_beginning.add({1000, driver::StepsTaken{1, ranks}});
  BOOST_TEST(straggler_in(no_beginning, false)->words ==
             "rank 2 is 2.0 times slower than the others, which wait for it");
  // The others can have waited no longer than they did.
  for (RankSteps& rank : ranks) rank = {rank.rank, 400, rank.rank == 2 ? 600.0 : 440.0, rank.rank == 2 ? 0.0 : 150.0};
  BOOST_TEST(found()->lost_s == 150);
}

BOOST_AUTO_TEST_CASE(of_several_attempts_it_says_which) {
  record.add({1000, driver::AttemptBegan{1, {"a", "b", "c", "d"}, {}}});
  record.add({1500, driver::AttemptEnded{1, "rank 1 died"}});
  record.add({1500, driver::AttemptBegan{2, {"a", "b", "e", "d"}, {}}});
  record.add({2000, driver::StepsTaken{2, ranks}});
  record.add({2100, driver::RunEnded{"finished"}});
  BOOST_TEST(straggler_in(record, true)->words ==
             "rank 2 on e was 2.0 times slower than the others: about 3 of the 10 minutes of attempt 2 were spent "
             "waiting for it");
}

BOOST_AUTO_TEST_CASE(a_rank_that_became_slow_has_been_so_since_it_last_was_not) {
  record.add({1000, driver::AttemptBegan{1, {"a", "b", "c", "d"}, {}}});
  const auto look = [this](double at, double own_s) {
    for (RankSteps& rank : ranks) {
      rank.count += 10;
      rank.total_s += 11;
      *rank.waited_s += 11 - 10 * (rank.rank == 2 ? own_s : 0.5);
    }
    record.add({at, driver::StepsTaken{1, ranks}});
  };
  for (RankSteps& rank : ranks) rank = {.rank = rank.rank, .waited_s = 0.0};
  look(1011, 1);
  BOOST_TEST(!straggler_in(record, false)->since_unix_s.has_value());  // From the beginning.
  look(1022, 0.5);
  look(1033, 1);
  look(1044, 1);
  const auto lately = straggler_in(record, false);
  BOOST_TEST(lately->since_unix_s.value() == 1022);
  // Without what it did before that.
  BOOST_TEST(lately->words ==
             "rank 2 on c is 2.0 times slower than the others: about 10 of the 44 seconds so far were spent "
             "waiting for it");
  BOOST_TEST(lately->detail == "takes 1.00 s for its own part of a step (without waiting), the others 0.5 s");
  look(1055, 0.5);
  const auto no_more = straggler_in(record, true);
  BOOST_TEST(!no_more->since_unix_s.has_value());
  BOOST_TEST(no_more->detail == "took 0.8 s for its own part of a step (without waiting), the others 0.5 s");
}

BOOST_AUTO_TEST_CASE(a_rank_that_was_slow_almost_always_has_no_since) {
  record.add({1000, driver::AttemptBegan{1, {"a", "b", "c", "d"}, {}}});
  for (RankSteps& rank : ranks) rank = {rank.rank, 10, 6, 1.0};
  record.add({1009, driver::StepsTaken{1, ranks}});
  for (RankSteps& rank : ranks) rank = {rank.rank, 100, 105, rank.rank == 2 ? 5.0 : 55.0};
  record.add({1100, driver::StepsTaken{1, ranks}});
  const auto always = straggler_in(record, true);
  BOOST_TEST(!always->since_unix_s.has_value());
  BOOST_TEST(always->detail == "took 1.00 s for its own part of a step (without waiting), the others 0.5 s");
}

BOOST_AUTO_TEST_CASE(steps_of_a_moment_or_that_nobody_waits_in_are_no_reason) {
  std::vector<RankSteps> slow = ranks;
  for (RankSteps& rank : ranks) rank.count = 9;
  BOOST_TEST(!found().has_value());
  ranks = slow;
  for (RankSteps& rank : ranks) rank.waited_s.reset();  // In steps that collectives end.
  BOOST_TEST(!found().has_value());
  for (RankSteps& rank : ranks) rank = {rank.rank, 400, 44, rank.rank == 2 ? 38.0 : 40.0};
  BOOST_TEST(!found().has_value());  // 5 ms.
  for (RankSteps& rank : ranks) rank = {rank.rank, 400, 440, rank.rank == 2 ? 200.0 : 240.0};
  BOOST_TEST(!found().has_value());  // 1.2 times.
  BOOST_TEST(!straggler_in(RunRecord(), true).has_value());
}

BOOST_AUTO_TEST_CASE(a_loop_without_an_optimizer_is_judged_from_report_to_report) {
  for (RankSteps& rank : ranks) rank = {.rank = rank.rank, .count = 400, .total_s = rank.rank == 1 ? 400.0 : 100.0};
  for (RankSteps& rank : ranks) rank.of_reports = true;
  BOOST_TEST(found()->words ==
             "rank 1 on b was 4.0 times slower than the others: about 5 of the 7 minutes were spent waiting for it");
}

BOOST_AUTO_TEST_CASE(what_a_run_at_work_says_of_itself_goes_before_its_file) {
  control::RunView view;
  view.state = control::RunState::running;
  view.attempt = 1;
  view.attempt_for_s = 440;
  record.add({1000, driver::AttemptBegan{1, {"a", "b", "c", "d"}, {}}});
  record.add({1440, driver::StepsTaken{1, ranks}});
  BOOST_TEST(straggler_now(view, record)->name == "rank 2 on c");
  for (int rank = 0; rank < 4; ++rank) {
    control::RankView& seen = view.ranks.emplace_back();
    seen.rank = rank;
    seen.hostname = "host-" + std::to_string(rank);
    seen.steps = control::StepView{400, 1.1, rank == 3 ? 0.1 : 0.5};
  }
  BOOST_TEST(straggler_now(view, record)->words ==
             "rank 3 on host-3 is 1.8 times slower than the others: about 3 of the 7 minutes so far were spent waiting "
             "for it");
  view.state = control::RunState::finished;
  BOOST_TEST(straggler_now(view, record)->name == "rank 2 on c");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
