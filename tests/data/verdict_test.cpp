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
  const std::vector<StageCounters> source_is_slow = {
      {"read", 1, 99, 0, 1}, {"function scale", 2, 20, 80, 0}, {"windows", 1, 5, 90, 5}};
  BOOST_TEST(verdict_of(source_is_slow, {31, 100}).stage.value() == "read");
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_too_small_is_said) {
  const std::vector<StageCounters> stages = {{"read", 1, 10, 0, 90}, {"windows", 1, 5, 90, 5}};
  BOOST_TEST(verdict_of(stages, {40, 100}).words ==
             "data-bound: ranks waited for batches 40 % of the time; read waited for memory 90 % of the time: the "
             "memory budget is too small");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
