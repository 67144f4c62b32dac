#include "driver/runtime.hpp"

#include "driver/fake_node.hpp"

#include <fcntl.h>
#include <future>
#include <thread>
#include <unistd.h>

/// A runtime from its start to its end, with a node that does what the test says.
namespace headway::driver {

BOOST_FIXTURE_TEST_SUITE(runtime_suite, OnFakeNode)

BOOST_AUTO_TEST_CASE(what_there_is_can_be_asked_from_any_thread_while_runs_start_and_after_the_end) {
  RunSpec two = spec(2);
  two.scaling.resources_per_worker = Resources{{"CPU", 1}};
  const std::shared_ptr<Run> run = start(two);
  node.await("start 2");
  std::vector<std::future<double>> answers;
  for (int i = 0; i < 4; ++i) {
    answers.push_back(std::async(std::launch::async, [&] { return runtime->total_resources().at("CPU"); }));
  }
  for (std::future<double>& answer : answers) BOOST_TEST(answer.get() == 4);
  BOOST_TEST(runtime->available_resources().at("CPU") == 2);
  runtime->shutdown();
  BOOST_TEST(runtime->total_resources().at("CPU") == 4);
}

BOOST_AUTO_TEST_CASE(whoever_asks_while_the_end_takes_long_is_held_up_by_no_lock) {
  node.hold_end(true);
  std::thread ending([&] { runtime->shutdown(); });
  node.await("end");
  const auto refused = runtime->start_run({.spec = spec(1)});
  BOOST_TEST((!refused && refused.error().kind == ErrorKind::aborted));
  BOOST_TEST(!runtime->watch().has_value());
  // These two wait for the end itself.
  std::future<void> second = std::async(std::launch::async, [&] { runtime->shutdown(); });
  std::future<double> asked = std::async(std::launch::async, [&] { return runtime->total_resources().at("CPU"); });
  node.hold_end(false);
  ending.join();
  second.get();
  BOOST_TEST(asked.get() == 4);
}

BOOST_AUTO_TEST_CASE(a_run_that_is_under_way_at_the_end_has_ended_for_its_front_end) {
  const std::shared_ptr<Run> run = start(spec(1));
  to_training(*run, 1, 1, 1);
  runtime->shutdown();
  node.await("end");
  BOOST_TEST(outcome(*run).state == "aborted");
}

BOOST_AUTO_TEST_CASE(what_a_node_says_after_the_end_has_begun_starts_nothing) {
  node.hold_end(true);
  const std::shared_ptr<Run> run = start(spec(1, 3));
  to_training(*run, 1, 1, 1);
  std::thread ending([&] { runtime->shutdown(); });
  node.await("end");
  runtime->warm({"torch"});
  node.exit(1, {true, 9, ""});
  node.say(1, wire::TrainingReturned{});
  node.notice("a guard is stopped");
  node.hold_end(false);
  ending.join();
  BOOST_TEST(node.asked_for_nothing());
}

BOOST_AUTO_TEST_CASE(sessions_of_local_ranks_are_closed_when_their_run_cannot_start) {
  RunStart start;
  start.spec = spec(1);
  start.spec.scaling.num_workers = -3;
  start.local_sessions.emplace_back(::dup(0));
  const int session = start.local_sessions.front().get();
  BOOST_TEST(!runtime->start_run(std::move(start)).has_value());
  BOOST_TEST(::fcntl(session, F_GETFD) == -1);
}

BOOST_AUTO_TEST_CASE(two_runs_hear_of_their_own_workers_alone) {
  RunSpec other = spec(1);
  other.run.name = "other";
  const std::shared_ptr<Run> first = start(spec(1));
  to_training(*first, 1, 1, 1);
  const std::shared_ptr<Run> second = start(other);
  to_training(*second, 1, 2, 1);
  to_the_end(*second, 1, 2, 1);
  BOOST_TEST(outcome(*second).state == "finished");
  to_the_end(*first, 1, 1, 1);
  BOOST_TEST(outcome(*first).state == "finished");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
