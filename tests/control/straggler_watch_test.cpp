#include "control/straggler_watch.hpp"
#include "control/rig.hpp"

/// A rank that all others wait for, report after report, is named.
namespace headway::control {

namespace {

/// One report; the rank that is `slow` takes that long, the others a second.
std::optional<StragglerWatch::Straggler> report(StragglerWatch& watch, int slow, Duration took) {
  for (int rank = 0; rank < 4; ++rank) watch.reported(rank, rank == slow ? took : 1s);
  return watch.complete();
}

/// What ranks say of their loops, each second: a step is as long for all of two ranks, and one of
/// them waits for the other in it.
struct Steps {
  LoopProgress of[2];

  const LoopProgress& second(int rank, double waited_s, bool seen = true) {
    LoopProgress& progress = of[rank];
    progress.step_times.count += 10;
    progress.step_times.total_s += 1;
    progress.waited_s += waited_s;
    progress.sees_collectives = seen;
    return progress;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_rank_that_is_slower_three_times_in_a_row_is_named_once) {
  StragglerWatch watch;
  watch.begin(4);
  BOOST_TEST(!report(watch, 2, 9s));  // The first report has what is done only once.
  BOOST_TEST(!report(watch, 2, 3s));
  BOOST_TEST(!report(watch, 2, 3s));
  const auto straggler = report(watch, 2, 3s);
  BOOST_REQUIRE(straggler.has_value());
  BOOST_TEST(straggler->rank == 2);
  BOOST_TEST(straggler_text(*straggler, "rank 2 (pid 7 on host a)") ==
             "rank 2 (pid 7 on host a) is 3.0 x slower than the other ranks, which wait for it: it took 3.0 s from "
             "report to report, the others 1.0 s, 3 times in a row");
  BOOST_TEST(!report(watch, 2, 3s));
  watch.begin(4);
  BOOST_TEST(!watch.took(2));
}

BOOST_AUTO_TEST_CASE(ranks_that_are_slow_in_turn_are_not_named) {
  StragglerWatch watch;
  watch.begin(4);
  for (int i = 0; i < 20; ++i) BOOST_TEST(!report(watch, i % 4, 5s));
}

BOOST_AUTO_TEST_CASE(a_difference_that_nobody_would_feel_is_no_straggler) {
  StragglerWatch watch;
  watch.begin(2);
  for (int i = 0; i < 10; ++i) {
    watch.reported(0, 1ms);
    watch.reported(1, 300ms);
    BOOST_TEST(!watch.complete());
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_others_wait_for_in_collectives_is_named_though_all_steps_are_as_long) {
  StragglerWatch watch;
  watch.begin(2);
  Steps steps;
  for (int i = 0; i < StragglerWatch::steps_in_a_row; ++i) {
    BOOST_TEST(!watch.progressed(0, steps.second(0, 0.7)));
    const auto straggler = watch.progressed(1, steps.second(1, 0.1));
    BOOST_TEST(straggler.has_value() == (i == StragglerWatch::steps_in_a_row - 1));
    if (!straggler) continue;
    BOOST_TEST(straggler_text(*straggler, "rank 1 (pid 7 on host a)") ==
               "rank 1 (pid 7 on host a) is 3.0 x slower than the other ranks, which wait for it: of an optimizer "
               "step its own work takes 90.0 ms, that of the others 30.0 ms; it is 90 % of its time outside of "
               "collectives, the others 30 %");
  }
  for (int i = 0; i < 10; ++i) {
    BOOST_TEST(!watch.progressed(0, steps.second(0, 0.7)));
    BOOST_TEST(!watch.progressed(1, steps.second(1, 0.1)));
  }
}

BOOST_AUTO_TEST_CASE(a_share_is_not_named_where_collectives_cannot_be_seen) {
  StragglerWatch watch;
  watch.begin(2);
  Steps steps;
  std::optional<StragglerWatch::Straggler> straggler;
  for (int i = 0; i < StragglerWatch::steps_in_a_row; ++i) {
    watch.progressed(0, steps.second(0, 0.7, false));
    straggler = watch.progressed(1, steps.second(1, 0.1));
  }
  BOOST_REQUIRE(straggler.has_value());
  BOOST_TEST(!contains(straggler_text(*straggler, "rank 1"), "collectives"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_says_nothing_of_its_steps_is_not_compared) {
  StragglerWatch watch;
  watch.begin(2);
  Steps steps;
  for (int i = 0; i < 20; ++i) BOOST_TEST(!watch.progressed(1, steps.second(1, 0.1)));
}

BOOST_AUTO_TEST_CASE(a_rank_by_itself_is_no_straggler) {
  StragglerWatch watch;
  watch.begin(1);
  for (int i = 0; i < 10; ++i) {
    watch.reported(0, 10s);
    BOOST_TEST(!watch.complete());
  }
}

BOOST_AUTO_TEST_CASE(a_run_warns_of_its_straggler_and_views_have_each_rank_s_time) {
  Rig run(spec_of(2));
  run.to_running();
  for (int i = 0; i < 4; ++i) {
    run.advance(1s);
    run.report(0);
    run.advance(2s);
    run.report(1);
  }
  BOOST_REQUIRE(run.count<Warn>() == 1U);
  BOOST_TEST(contains(run.last<Warn>().text, "rank 1 (pid 101 on host-a) is 3.0 x slower than the other ranks"));
  const RunView view = run.controller.view(run.now);
  BOOST_TEST(view.ranks.at(0).report_s.value() == 1.0);
  BOOST_TEST(view.ranks.at(1).report_s.value() == 3.0);
}

}  // namespace headway::control
