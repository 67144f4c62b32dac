#include "control/checkpoint_questions.hpp"

#include "control/pieces.hpp"

/// When a rank that asks for the kept checkpoints gets its answer.
namespace headway::control {
namespace {

CheckpointsAsked question(std::int64_t number, std::int64_t reports, bool validated = false,
                          std::optional<double> timeout_s = {}) {
  return {1, 0, number, reports, validated, timeout_s};
}

std::vector<std::int64_t> numbers(const std::vector<CheckpointsAsked>& asked) {
  std::vector<std::int64_t> found;
  for (const CheckpointsAsked& each : asked) found.push_back(each.question);
  return found;
}

using Numbers = std::vector<std::int64_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_questions_suite)

BOOST_AUTO_TEST_CASE(a_question_waits_for_the_reports_before_it) {
  Outbox out;
  CheckpointQuestions questions;
  questions.ask(question(0, 2), out);
  questions.ask(question(1, 5), out);
  BOOST_TEST(questions.take_due(1, false).empty());
  BOOST_TEST(numbers(questions.take_due(2, false)) == Numbers{0});
  BOOST_TEST(numbers(questions.take_due(9, false)) == Numbers{1});
  BOOST_TEST(questions.take_due(9, false).empty());
}

BOOST_AUTO_TEST_CASE(one_that_wants_validations_waits_for_these_too) {
  Outbox out;
  CheckpointQuestions questions;
  questions.ask(question(0, 0, true), out);
  BOOST_TEST(questions.take_due(9, false).empty());
  BOOST_TEST(numbers(questions.take_due(9, true)) == Numbers{0});
}

BOOST_AUTO_TEST_CASE(when_its_time_is_over_it_gets_what_there_is) {
  Outbox out;
  out.begin(Time{});
  CheckpointQuestions questions;
  questions.ask(question(0, 5, true, 3.0), out);
  const auto set = taken<SetTimer>(out);
  BOOST_REQUIRE(set.size() == 1U);
  BOOST_TEST((set[0].at == Time{3s}));
  const auto timer = out.fired(set[0].timer);
  BOOST_REQUIRE((timer && timer->purpose == TimerPurpose::question));
  BOOST_TEST(questions.time_is_over(timer->number));
  BOOST_TEST(numbers(questions.take_due(0, false)) == Numbers{0});
  BOOST_TEST(!questions.time_is_over(timer->number));
}

BOOST_AUTO_TEST_CASE(the_next_attempt_answers_none_of_the_last_ones) {
  Outbox out;
  CheckpointQuestions questions;
  questions.ask(question(0, 0, false, 3.0), out);
  const std::int64_t id = taken<SetTimer>(out).at(0).timer;
  questions.begin_attempt(out);
  BOOST_TEST(questions.take_due(9, true).empty());
  BOOST_TEST(!out.fired(id));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
