#include "control/validation_queue.hpp"

#include <boost/test/unit_test.hpp>

/// Which validations wait, run and come next, by themselves.
namespace headway::control {
namespace {

ValidationSpec config_of(int max_concurrent = 1, int max_retries = 3, const std::string& order = "oldest") {
  ValidationSpec config;
  config.has_function = true;
  config.max_concurrent = max_concurrent;
  config.max_retries = max_retries;
  config.order = order;
  return config;
}

std::vector<std::string> names(const std::vector<StartValidation>& started) {
  std::vector<std::string> names;
  for (const StartValidation& each : started) names.push_back(each.checkpoint);
  return names;
}

void add(ValidationQueue& queue, int count) {
  for (int i = 0; i < count; ++i) queue.add("c" + std::to_string(i), i, {});
}

using Names = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(validation_queue_suite)

BOOST_AUTO_TEST_CASE(the_oldest_come_first_and_no_more_than_may_run_at_once) {
  ValidationQueue queue(config_of(2));
  add(queue, 4);
  const auto started = queue.start();
  BOOST_TEST(names(started) == (Names{"c0", "c1"}));
  BOOST_TEST(queue.start().empty());
  queue.settle(started[0].number);
  BOOST_TEST(queue.start().empty(), "a process that is about to end still counts");
  BOOST_TEST(!queue.exit(started[0].number).died.has_value());
  BOOST_TEST(names(queue.start()) == Names{"c2"});
}

BOOST_AUTO_TEST_CASE(the_newest_come_first_where_that_is_asked_for) {
  ValidationQueue queue(config_of(1, 3, "newest"));
  add(queue, 3);
  const auto started = queue.start();
  BOOST_TEST(names(started) == Names{"c2"});
  queue.settle(started[0].number);
  queue.exit(started[0].number);
  BOOST_TEST(names(queue.start()) == Names{"c1"});
}

BOOST_AUTO_TEST_CASE(a_process_that_dies_is_begun_again_as_often_as_it_may) {
  ValidationQueue queue(config_of(1, 1));
  add(queue, 2);
  const auto first = queue.start();
  const auto died = queue.exit(first[0].number);
  BOOST_TEST((died.died && died.again && died.died->deaths == 1));
  const auto second = queue.start();
  BOOST_TEST(names(second) == Names{"c0"});
  BOOST_TEST(second[0].number != first[0].number);
  const auto over = queue.exit(second[0].number);
  BOOST_TEST((over.died && !over.again && over.died->deaths == 2));
  BOOST_TEST(names(queue.start()) == Names{"c1"});
}

BOOST_AUTO_TEST_CASE(what_became_of_one_counts_once) {
  ValidationQueue queue(config_of());
  add(queue, 1);
  const std::int64_t number = queue.start()[0].number;
  BOOST_TEST(queue.running(number) != nullptr);
  BOOST_TEST(queue.settle(number) != nullptr);
  BOOST_TEST(queue.settle(number) == nullptr);
  BOOST_TEST(queue.running(number) == nullptr);
  BOOST_TEST((queue.settled() && !queue.idle() && queue.any_process()));
  queue.exit(number);
  BOOST_TEST(queue.idle());
}

BOOST_AUTO_TEST_CASE(after_a_stop_nothing_begins_and_what_runs_is_ended) {
  ValidationQueue queue(config_of());
  add(queue, 2);
  const std::int64_t number = queue.start()[0].number;
  const auto ended = queue.stop("Ctrl-C");
  BOOST_REQUIRE(ended.size() == 1U);
  BOOST_TEST((ended[0].number == number && ended[0].mode == EndMode::kill && ended[0].reason == "Ctrl-C"));
  BOOST_TEST(!queue.exit(number).died.has_value());
  BOOST_TEST((queue.start().empty() && queue.idle()));
}

BOOST_AUTO_TEST_CASE(a_name_that_is_used_anew_takes_its_validations_with_it) {
  ValidationQueue queue(config_of());
  queue.add("last", 0, {});
  const std::int64_t number = queue.start()[0].number;
  queue.add("last", 1, {});
  BOOST_TEST(queue.forget("last").size() == 1U);
  BOOST_TEST(queue.settled());
  queue.add("last", 2, {});
  queue.exit(number);
  BOOST_TEST(names(queue.start()) == Names{"last"});
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_is_refused_and_falling_behind_is_told_once) {
  ValidationSpec without = config_of();
  without.has_function = false;
  ValidationTask own;
  own.call = "pickled";
  BOOST_TEST(ValidationQueue(without).refusal({}).value_or("") == "the trainer has no validation function");
  BOOST_TEST(!ValidationQueue(without).refusal(own).has_value());
  ValidationQueue queue(config_of());
  add(queue, static_cast<int>(ValidationQueue::waiting_max));
  BOOST_TEST(queue.refusal({}).has_value());
  BOOST_TEST(queue.behind_warning().has_value());
  BOOST_TEST(!queue.behind_warning().has_value());
}

BOOST_AUTO_TEST_CASE(a_task_has_its_own_time_limit_or_the_trainers) {
  ValidationSpec config = config_of(2);
  config.timeout_s = 5;
  ValidationQueue queue(config);
  queue.add("c0", 0, {});
  queue.add("c1", 1, {false, {}, std::nullopt, std::nullopt});
  const auto started = queue.start();
  BOOST_TEST(queue.timeout_s(*queue.running(started[0].number)).value_or(0) == 5);
  BOOST_TEST(!queue.timeout_s(*queue.running(started[1].number)).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
