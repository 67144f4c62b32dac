#include "driver/fake_node.hpp"

#include <atomic>

/// Runs whose worker is started while they wait for slots, and runs that give their slots back
/// while their processes end.
namespace headway::driver {

namespace {

struct OnBusyNode : OnFakeNode {
  /// Each run claims all of the node's four CPUs.
  RunSpec of_all_cpus(const std::string& name, int workers = 1) const {
    RunSpec made = spec(workers);
    made.run.name = name;
    made.scaling.resources_per_worker = Resources{{"CPU", 4.0 / workers}};
    return made;
  }
  std::shared_ptr<Run> start_early(RunSpec made, bool held = false) const {
    return storage::must(runtime->start_run({.spec = std::move(made),
                                             .task = std::make_shared<const std::string>("the training function"),
                                             .held = held,
                                             .starts_early = true}));
  }
  /// A run that has the slots, as worker 1.
  std::shared_ptr<Run> busy() {
    std::shared_ptr<Run> run = start(of_all_cpus("first"));
    to_training(*run, 1, 1, 1);
    return run;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(early_worker_suite, OnBusyNode)

BOOST_AUTO_TEST_CASE(a_worker_that_was_started_early_trains_once_its_run_has_slots) {
  const std::shared_ptr<Run> first = busy();
  const std::shared_ptr<Run> second = start_early(of_all_cpus("second"));
  node.await("start 2");
  node.say(2, wire::SessionReady{102});
  to_the_end(*first, 1, 1, 1);
  BOOST_TEST(event<SetupAsked>(*second).workers == 1);
  second->setup_finished(1, std::nullopt);
  BOOST_TEST(node.next() == "tell 2 Train");  // No other worker was started.
  to_the_end(*second, 1, 2, 1);
  BOOST_TEST(outcome(*second).state == "finished");
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_ready_only_after_its_run_has_slots_trains_then) {
  const std::shared_ptr<Run> second = start_early(of_all_cpus("second"), true);
  node.await("start 1");
  boost::asio::post(runtime->loop(), [second] { second->let_in(); });
  node.say(1, wire::SessionReady{101});
  BOOST_TEST(event<SetupAsked>(*second).workers == 1);
  second->setup_finished(1, std::nullopt);
  BOOST_TEST(node.next() == "tell 1 Train");
}

BOOST_AUTO_TEST_CASE(another_worker_takes_the_place_of_one_that_has_died_before_its_run_had_slots) {
  const std::shared_ptr<Run> first = busy();
  const std::shared_ptr<Run> second = start_early(of_all_cpus("second"));
  node.await("start 2");
  node.exit(2, {true, 9, ""});
  to_the_end(*first, 1, 1, 1);
  to_training(*second, 1, 3, 1);
  to_the_end(*second, 1, 3, 1);
  const control::RunOutcome end = outcome(*second);
  BOOST_TEST(end.state == "finished");
  BOOST_TEST(end.attempts == 1);  // Its end was no failure of the run's.
}

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_be_started_early_is_started_with_the_slots) {
  const std::shared_ptr<Run> first = busy();
  node.refuse(Error{ErrorKind::unavailable, "no descriptors are left"});
  const std::shared_ptr<Run> second = start_early(of_all_cpus("second"));
  node.await("start 2");
  node.refuse(std::nullopt);
  to_the_end(*first, 1, 1, 1);
  to_training(*second, 1, 3, 1);
}

BOOST_AUTO_TEST_CASE(a_run_that_ends_while_it_waits_ends_its_worker_first) {
  const std::shared_ptr<Run> first = busy();
  const std::shared_ptr<Run> second = start_early(of_all_cpus("second"));
  node.await("start 2");
  second->abort("the user said so");
  node.await("signal 2 9");
  node.exit(2, {true, 9, ""});
  BOOST_TEST(outcome(*second).state == "aborted");
}

BOOST_AUTO_TEST_CASE(a_runtime_that_ends_waits_for_no_early_worker) {
  const std::shared_ptr<Run> first = busy();
  const std::shared_ptr<Run> second = start_early(of_all_cpus("second"));
  node.await("start 2");
  second->abort("the user said so");
  node.await("signal 2 9");
  runtime->shutdown();
  BOOST_TEST(outcome(*second).state == "aborted");
}

BOOST_AUTO_TEST_CASE(groups_of_several_workers_are_not_started_early) {
  const std::shared_ptr<Run> first = busy();
  const std::shared_ptr<Run> second = start_early(of_all_cpus("second", 2));
  event<Notice>(*second);  // It waits.
  to_the_end(*first, 1, 1, 1);
  BOOST_TEST(node.next() == "start 2");
  BOOST_TEST(node.next() == "start 3");
}

BOOST_AUTO_TEST_CASE(slots_that_are_returned_early_are_the_next_runs_while_processes_end) {
  RunSpec returns = of_all_cpus("first");
  returns.returns_slots_early = true;
  std::atomic<int> returned = 0;
  const std::shared_ptr<Run> first = storage::must(runtime->start_run(
      {.spec = returns, .task = std::make_shared<const std::string>("the training function"), .slots_returned = [&] {
         ++returned;
       }}));
  to_training(*first, 1, 1, 1);
  const std::shared_ptr<Run> second = start(of_all_cpus("second"));
  event<Notice>(*second);
  BOOST_TEST(returned == 0);
  node.say(1, wire::TrainingReturned{});
  event<TeardownAsked>(*first);
  first->teardown_finished(1);
  to_training(*second, 1, 2, 1);
  BOOST_TEST(returned == 1);
  node.exit(1);
  BOOST_TEST(outcome(*first).state == "finished");
  BOOST_TEST(returned == 1);
  runtime->shutdown();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
