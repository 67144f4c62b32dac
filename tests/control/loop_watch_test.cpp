#include "control/loop_watch.hpp"
#include "control/rig.hpp"

/// How long each rank takes, kept in a file and in views.
namespace headway::control {

namespace {

LoopProgress after(double seconds, double waited_s) {
  LoopProgress progress;
  progress.at_s = seconds;
  progress.steps = 10;
  progress.step_times = {9, seconds, 0.1, 0.2, 0.3};
  progress.waited_s = waited_s;
  progress.sees_collectives = true;
  return progress;
}

}  // namespace

BOOST_AUTO_TEST_CASE(times_of_ranks_are_kept_now_and_then_and_at_an_attempt_s_end) {
  Rig run(spec_of(2));
  run.to_running();
  run.send(RankProgressed{run.attempt(), 0, after(1, 0.8)});
  BOOST_TEST(run.count<KeepStepTimes>() == 0U);
  run.advance(30s);
  run.send(RankProgressed{run.attempt(), 1, after(1, 0.2)});
  BOOST_REQUIRE(run.count<KeepStepTimes>() == 1U);
  const AttemptTimes times = run.last<KeepStepTimes>().times;
  BOOST_TEST(times.attempt == 1);
  BOOST_TEST(times.ranks.at(1).hostname == "host-a");
  BOOST_TEST(times.ranks.at(0).steps->count == 9);
  BOOST_TEST(times.ranks.at(0).waiting_share.value() == 0.8);
  BOOST_TEST(times.ranks.at(1).waiting_share.value() == 0.2);
  BOOST_TEST(!times.ranks.at(1).reports);
  for (int i = 0; i < 3; ++i) {
    run.advance(2s);
    run.report_all();
  }
  BOOST_TEST(run.count<KeepStepTimes>() == 1U);
  BOOST_TEST(run.controller.view(run.now).ranks.at(1).steps->waiting_share.value() == 0.2);
  run.killed(0);
  run.group_ends();
  BOOST_REQUIRE(run.count<KeepStepTimes>() == 2U);
  BOOST_TEST(run.last<KeepStepTimes>().times.ranks.at(1).reports->count == 2);
  BOOST_TEST(run.last<KeepStepTimes>().times.ranks.at(1).reports->max_s == 2.0);
}

BOOST_AUTO_TEST_CASE(an_attempt_of_which_nothing_is_known_keeps_no_times) {
  Rig run(spec_of(2));
  run.to_running();
  run.report_all();
  run.killed(0);
  run.group_ends();
  BOOST_TEST(run.count<KeepStepTimes>() == 0U);
}

}  // namespace headway::control
