#include "data/verdict.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace headway::data {

BOOST_AUTO_TEST_SUITE(verdict_suite)

BOOST_AUTO_TEST_CASE(ranks_that_hardly_wait_are_not_data_bound) {
  const Verdict verdict = verdict_of({}, {1, 100});
  BOOST_TEST(!verdict.is_data_bound);
  BOOST_TEST(!verdict.stage.has_value());
  BOOST_TEST(verdict.words == "not data-bound: ranks waited for batches 1 % of the time");
  BOOST_TEST(verdict_line(verdict) == "not data-bound (ranks waited 1 %)");
  BOOST_TEST(verdict_of({}, {}).words == "no rank has had a batch yet");
}

BOOST_AUTO_TEST_CASE(the_stage_is_named_that_the_others_wait_for) {
  const std::vector<StageCounters> function_is_slow = {
      {"read", 4, 20, 0, 180}, {"function scale", 2, 97, 1, 2}, {"windows", 1, 5, 90, 5}};
  const Verdict verdict = verdict_of(function_is_slow, {31, 100});
  BOOST_TEST(verdict.stage.value() == "function scale");
  BOOST_TEST(verdict.words ==
             "data-bound: ranks waited for batches 31 % of the time; the slowest stage is function scale, busy 97 % of "
             "the time with 2 workers");
  BOOST_TEST(verdict_line(verdict) == "data-bound by stage function scale: ranks waited 31 % of the time for data");
  const std::vector<StageCounters> source_is_slow = {
      {"read", 1, 99, 0, 1}, {"function scale", 2, 20, 80, 0}, {"windows", 1, 5, 90, 5}};
  BOOST_TEST(verdict_of(source_is_slow, {31, 100}).stage.value() == "read");
  // The ranks are slow at times too: then the stage before them waits for them.
  const std::vector<StageCounters> ranks_are_slow_at_times = {{"read", 2, 62, 0, 4}, {"deal", 1, 5, 11, 26}};
  BOOST_TEST(verdict_of(ranks_are_slow_at_times, {19, 100}).stage.value() == "read");
}

BOOST_AUTO_TEST_CASE(a_stage_that_was_idle_too_is_not_named) {
  const std::vector<StageCounters> stages = {{"read", 1, 2, 0, 98}, {"deal", 1, 1, 99, 0}};
  const Verdict verdict = verdict_of(stages, {8, 100});
  BOOST_TEST(!verdict.stage.has_value());
  BOOST_TEST(
      verdict.words ==
      "data-bound: ranks waited for batches 8 % of the time; no stage was busy for as long: most of it was their "
      "start");
  BOOST_TEST(verdict_line(verdict) == "data-bound: ranks waited 8 % of the time for data");
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_too_small_is_said) {
  const std::vector<StageCounters> stages = {{"read", 1, 10, 0, 90, 0, 0, 90}, {"windows", 1, 5, 90, 5}};
  BOOST_TEST(verdict_of(stages, {40, 100}).words ==
             "data-bound: ranks waited for batches 40 % of the time; read waited for memory 90 % of the time: the "
             "memory budget is too small");
}

BOOST_AUTO_TEST_CASE(of_stages_that_share_threads_the_busiest_is_named) {
  // Threads read a unit, and take it through two functions; the first has one worker.
  StageCounters read{"read", 4, 45, 0, 55};
  StageCounters first{"map_batches(first)", 1, 20, 45, 15};
  StageCounters second{"map_batches(second)", 4, 30, 65, 5};
  read.pool = first.pool = second.pool = 1;
  const std::vector<StageCounters> stages = {read, first, second, {"deal", 1, 1, 98, 1}};
  BOOST_TEST(verdict_of(stages, {31, 100}).stage.value() == "map_batches(first)");
}

BOOST_AUTO_TEST_CASE(a_rank_that_starves_names_whom_it_waits_for) {
  FlowCounters flow;
  flow.stages = {{"read"}, {"map_batches(f)"}, {"deal"}};
  BOOST_TEST(starving_words(flow).empty());
  flow.stages[0].at_work = 1;
  flow.stages[1].at_work = 2;
  flow.stages[1].silent_s = 60;
  BOOST_TEST(starving_words(flow) == "stage map_batches(f) has had no output for 60 s");
  BOOST_TEST(awaited_words(flow).empty());
  flow.awaited = 0;
  flow.awaited_for_s = 31.2;
  BOOST_TEST(starving_words(flow) == "rank 0 has taken none of its batches for 31 s");
  flow.absent = {1, 3};
  BOOST_TEST(starving_words(flow) == "ranks 1, 3 have not begun this epoch");
  BOOST_TEST(awaited_words(flow) == starving_words(flow));
}

BOOST_AUTO_TEST_CASE(epochs_are_added_stage_by_stage) {
  std::vector<StageCounters> all;
  const std::vector<StageCounters> epoch = {{"read", 2, 1, 2, 3, 10, 100}, {"map(f)", 1, 4}, {"map(f)", 1, 5}};
  add_stages(all, epoch);
  add_stages(all, epoch);
  BOOST_TEST(all.size() == 3);
  BOOST_TEST(all[0].rows == 20);
  BOOST_TEST(all[0].waiting_output_s == 6);
  BOOST_TEST(all[1].busy_s == 8);
  BOOST_TEST(all[2].busy_s == 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
