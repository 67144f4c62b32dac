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

  RunScene of(RunState state) const { return {state, Time{}, attempt, reports, callbacks, nodes, data, attempt_end}; }

  Attempt attempt;
  ReportPipeline reports{"/storage"};
  CallbackLag callbacks{0};
  HeldNodes nodes{0};
  DataWatch data;
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

BOOST_AUTO_TEST_CASE(a_rank_that_gets_no_batch_is_a_wait_whose_words_name_the_stage) {
  Scene scene(2);
  WaitWatch waits(warned_after(1));
  DataProgress starving;
  starving.dataset = "train";
  starving.starving_s = 2;
  starving.flow.stages = {{"read parquet"}, {"map_batches(f)"}, {"deal"}};
  starving.flow.stages[1].at_work = 1;
  starving.flow.stages[1].silent_s = 3;
  scene.data.told(1, starving, Time{10s});
  const RunScene seen = scene.of(RunState::running);
  const auto wait = waits.current(seen);
  BOOST_REQUIRE(wait.has_value());
  BOOST_TEST((wait->kind == WaitKind::data));
  BOOST_TEST((wait->since == Time{8s}));
  const WaitScene told = waits.describe(seen, *wait, Time{67s});
  BOOST_TEST(hang_headline(told, Time{68s}) ==
             "rank 1 waits for data for 60.0 s: stage map_batches(f) has had no output for 60 s");
  // That a stage is slow ends no attempt.
  FailureConfig limits;
  limits.hang_warn_s = 1;
  limits.hang_fail_s = 2;
  HangWatch watch(limits);
  const auto verdict = watch.observe(Time{60s}, wait);
  BOOST_REQUIRE(verdict.examine.has_value());
  BOOST_TEST((watch.examined(Time{60s}, *verdict.examine) == HangWatch::Outcome::warn));
  // It has its batch.
  starving.starving_s.reset();
  scene.data.told(1, starving, Time{70s});
  BOOST_TEST(!waits.current(scene.of(RunState::running)).has_value());
}

BOOST_AUTO_TEST_CASE(ranks_that_get_no_batch_wait_since_the_first_of_them_does) {
  Scene scene(2);
  WaitWatch waits(warned_after(1));
  DataProgress starving;
  starving.dataset = "train";
  starving.flow.stages = {{"read parquet"}, {"map_batches(f)"}, {"deal"}};
  starving.flow.stages[1].at_work = 1;
  starving.starving_s = 2;
  scene.data.told(1, starving, Time{10s});
  scene.data.told(0, starving, Time{60s});
  const RunScene seen = scene.of(RunState::running);
  const auto wait = waits.current(seen);
  BOOST_REQUIRE(wait.has_value());
  BOOST_TEST(wait->index == 1);
  BOOST_TEST(hang_headline(waits.describe(seen, *wait, Time{68s}), Time{68s}) ==
             "ranks 0, 1 wait for data for 60.0 s: stage map_batches(f) has had no output for 58 s");
  // The end of another data set's epoch is no batch of this one.
  DataProgress other;
  other.dataset = "validation";
  scene.data.told(1, other, Time{69s});
  BOOST_TEST(waits.current(scene.of(RunState::running)).value().index == 1);
  starving.starving_s.reset();
  scene.data.told(1, starving, Time{70s});
  BOOST_TEST(waits.current(scene.of(RunState::running)).value().index == 0);
}

BOOST_AUTO_TEST_CASE(ranks_that_wait_for_the_same_stage_have_one_line) {
  DataWatch data;
  DataProgress starving;
  starving.dataset = "train";
  starving.flow.stages = {{"map_batches(f)"}};
  starving.flow.stages[0].at_work = 1;
  starving.starving_s = 2;
  for (const int rank : {3, 1, 2}) data.told(rank, starving, Time{10s} + std::chrono::seconds(rank));
  starving.flow.absent = {5};
  data.told(0, starving, Time{20s});
  const std::vector<std::string> words = data.words(data.starving(), Time{73s});
  const std::vector<std::string> expected = {
      "ranks 1 to 3 wait for data: stage map_batches(f) has had no output for 62 s",
      "rank 0 waits for data: rank 5 has not begun this epoch"};
  BOOST_TEST(words == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ranks_of_one_stall_are_warned_of_once) {
  Scene scene(4);
  WaitWatch waits(warned_after(10));
  HangWatch watch(warned_after(10).failure);
  DataProgress starving;
  starving.dataset = "train";
  starving.starving_s = 2;
  for (const int rank : {1, 2, 3}) scene.data.told(rank, starving, Time{10s} + std::chrono::seconds(rank));
  const auto observed = [&](Time now) { return watch.observe(now, waits.current(scene.of(RunState::running))); };
  const HangWatch::Verdict first = observed(Time{20s});
  BOOST_REQUIRE(first.examine.has_value());
  BOOST_TEST((watch.examined(Time{20s}, *first.examine) == HangWatch::Outcome::warn));
  // One after the other has its batch.
  starving.starving_s.reset();
  for (const int rank : {1, 2}) {
    scene.data.told(rank, starving, Time{25s});
    const HangWatch::Verdict next = observed(Time{25s});
    BOOST_TEST(!next.examine.has_value());
    BOOST_TEST(!next.resolved.has_value());
  }
  // It is still the wait that was warned of.
  BOOST_TEST(observed(Time{40s}).examine.has_value());
  scene.data.told(3, starving, Time{41s});
  const HangWatch::Verdict last = observed(Time{41s});
  BOOST_REQUIRE(last.resolved.has_value());
  BOOST_TEST(describe_resolved(*last.resolved) == "the ranks that waited for data have it, after 32.0 s");
  // The next one is another.
  starving.starving_s = 2;
  scene.data.told(3, starving, Time{50s});
  BOOST_TEST(!observed(Time{50s}).examine.has_value());
  BOOST_TEST(observed(Time{58s}).examine.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
