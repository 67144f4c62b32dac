#include "control/wait_watch.hpp"

#include "control/pieces.hpp"

/// Whom a run waits for at a moment, without a controller.
namespace headway::control {
namespace {

RunSpec warned_after(double seconds) {
  RunSpec spec;
  spec.failure.hang_warn_s = seconds;
  return spec;
}

struct Scene {
  explicit Scene(int workers) {
    attempt.begin(std::vector<Slot>(static_cast<std::size_t>(workers), slot_on("node-a")), Time{1s});
    attempt.begin_training(Time{2s});
    reports.begin_attempt(workers);
  }

  RunScene of(RunState state) const { return {state, Time{}, attempt, reports, callbacks, nodes, attempt_end}; }

  Attempt attempt;
  ReportPipeline reports{"/storage"};
  CallbackLag callbacks{0};
  HeldNodes nodes{0};
  std::string attempt_end;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_watch_suite)

BOOST_AUTO_TEST_CASE(ranks_that_train_hold_nobody_up) {
  const Scene scene(2);
  const WaitWatch waits(warned_after(10));
  BOOST_TEST(!waits.current(scene.of(RunState::running)));
  BOOST_TEST(!waits.current(scene.of(RunState::scheduling)));
}

BOOST_AUTO_TEST_CASE(an_open_report_waits_for_those_that_have_not_come) {
  Scene scene(3);
  scene.reports.offer(1, {0, {}, {}}, Time{5s});
  const WaitWatch waits(warned_after(10));
  const RunScene seen = scene.of(RunState::running);
  const auto wait = waits.current(seen);
  BOOST_REQUIRE(wait);
  BOOST_TEST((wait->kind == WaitKind::report));
  BOOST_TEST((wait->since == Time{5s}));
  const WaitScene told = waits.describe(seen, *wait, Time{8s});
  BOOST_TEST(told.awaited == (std::vector<int>{0, 2}));
  BOOST_TEST(told.waiting == std::vector<int>{1});
}

BOOST_AUTO_TEST_CASE(callbacks_are_waited_for_before_anything_else) {
  Scene scene(1);
  scene.callbacks.recorded(Time{4s});
  scene.callbacks.hold({});
  scene.reports.offer(0, {0, {}, {}}, Time{5s});
  const WaitWatch waits(warned_after(10));
  BOOST_TEST((waits.current(scene.of(RunState::running))->kind == WaitKind::callback));
}

BOOST_AUTO_TEST_CASE(an_attempt_that_is_ended_waits_for_its_processes) {
  Scene scene(2);
  scene.attempt.told_to_end(Time{6s});
  scene.attempt.group().at(0).gone = true;
  scene.attempt_end = "rank 0 died, in attempt 1";
  const WaitWatch waits(warned_after(10));
  const RunScene seen = scene.of(RunState::restarting);
  const auto wait = waits.current(seen);
  BOOST_REQUIRE(wait);
  BOOST_TEST((wait->kind == WaitKind::exit));
  const WaitScene told = waits.describe(seen, *wait, Time{8s});
  BOOST_TEST(told.subject == "rank 0 died");
  BOOST_TEST(told.awaited == std::vector<int>{1});
}

BOOST_AUTO_TEST_CASE(a_long_wait_is_looked_at_and_then_warned_of) {
  Scene scene(2);
  scene.reports.offer(0, {0, {}, {}}, Time{5s});
  const RunScene seen = scene.of(RunState::running);
  WaitWatch waits(warned_after(10));
  Outbox out;
  out.begin(Time{5s});
  waits.watch(seen, false, out);
  const auto timer = taken<SetTimer>(out);
  BOOST_REQUIRE(timer.size() == 1U);
  BOOST_TEST((timer[0].at == Time{15s}));
  BOOST_TEST((out.fired(timer[0].timer) == Timer{TimerPurpose::hang}));
  waits.hang_timer_fired();
  out.begin(Time{15s});
  waits.watch(seen, false, out);
  const auto looks = taken<ExamineRanks>(out);
  BOOST_REQUIRE(looks.size() == 1U);
  BOOST_TEST(looks[0].ranks == std::vector<int>{1});
  const auto verdict = waits.examined(seen, {1, looks[0].examination, {}, ""}, Time{16s});
  BOOST_TEST((verdict.outcome == HangWatch::Outcome::warn));
  BOOST_TEST(verdict.scene.awaited == std::vector<int>{1});
  BOOST_TEST(!verdict.in_hook);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
