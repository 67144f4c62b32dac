#include "control/rig.hpp"

/// Groups whose size follows what there is: as large as there is capacity for within their range,
/// never larger or smaller.
namespace headway::control {

namespace {

RunSpec elastic_spec(int workers_min, int workers_max, double interval_s = 60) {
  RunSpec spec = spec_of(workers_max, 3);
  spec.scaling.min_workers = workers_min;
  spec.scaling.elastic_resize_monitor_interval_s = interval_s;
  return spec;
}

/// One worker on each of these nodes.
Rig running_on(const std::vector<std::string>& nodes, RunSpec spec) {
  Rig run(std::move(spec));
  run.start();
  run.storage_ready();
  grant_on(run, nodes);
  run.restart();
  return run;
}

/// One worker that may become two. It has looked for more, after its interval, and has seen
/// capacity for so many.
Rig after_a_look(int capacity, double interval_s = 5) {
  Rig run = running_on({"a"}, elastic_spec(1, 2, interval_s));
  run.advance(from_seconds(interval_s));
  run.send(CapacityChanged{});
  BOOST_TEST(run.count<LookForCapacity>() == 1U);
  run.send(CapacitySeen{capacity});
  return run;
}

std::string last_notice(const Rig& run) { return run.last<Notify>().text; }

}  // namespace

BOOST_AUTO_TEST_SUITE(elastic_suite)

BOOST_AUTO_TEST_CASE(it_starts_with_what_there_is_within_its_range) {
  Rig run = running_on({"a"}, elastic_spec(1, 3));
  BOOST_TEST(run.last<AcquireNodes>().workers_min == 1);
  BOOST_TEST(run.last<AcquireNodes>().workers == 3);
  BOOST_TEST(run.last<StartWorkers>().plans.size() == 1U);
  BOOST_TEST(last_notice(run) == "The worker group has 1 worker now (num_workers is 1 to 3)");
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(it_grows_with_a_committed_checkpoint_when_there_is_capacity_for_longer_than_the_interval) {
  Rig run = running_on({"a"}, elastic_spec(1, 2));
  run.advance(10s);
  run.send(CapacityChanged{});
  BOOST_TEST(run.count<LookForCapacity>() == 0U);
  run.advance(50s);
  BOOST_REQUIRE(run.count<LookForCapacity>() == 1U);
  BOOST_TEST(run.last<LookForCapacity>().wanted.workers == 2);
  run.send(CapacitySeen{2});
  run.report_all({{"step", 1}});
  BOOST_TEST(run.count<EndWorkers>() == 0U);  // The next checkpoint loses nothing.
  run.checkpoint();
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::terminate));
  BOOST_TEST(run.last<EndWorkers>().reason == "there is capacity for more workers than the 1 of this group");
  run.group_ends({true, 15, ""});
  BOOST_TEST(
      contains(last_notice(run), "Resizing the worker group of 1 worker from checkpoint_000000: there is capacity"));
  BOOST_TEST((run.state() == RunState::scheduling));
  grant_on(run, {"a", "b"});
  BOOST_TEST(run.last<StartWorkers>().plans.size() == 2U);
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
  BOOST_TEST(last_notice(run) == "The worker group has 2 workers now, 1 before (num_workers is 1 to 2)");
  run.restart();
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.last<WriteJournal>().snapshot.failures == 0);
  BOOST_TEST(run.last<WriteJournal>().snapshot.attempt_ends.front() ==
             "there is capacity for more workers than the 1 of this group");
  BOOST_TEST(run.count<TellFailure>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_group_that_saves_nothing_grows_after_one_more_interval) {
  Rig run = after_a_look(2);
  run.advance(4900ms);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(200ms);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_is_being_stored_when_it_is_time_to_grow_is_not_lost) {
  Rig run = running_on({"a"}, elastic_spec(1, 2, 5));
  CheckpointOffer offer = files({"model"});
  offer.asynchronous = true;
  run.report_all({{"step", 0}}, offer);
  run.begun();
  run.report_all({{"step", 1}});
  run.advance(6s);
  run.send(CapacityChanged{});
  run.send(CapacitySeen{2});
  run.advance(20s);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.uploaded(0);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.committed();
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends({true, 15, ""});
  BOOST_TEST(contains(last_notice(run), "Resizing the worker group of 1 worker from checkpoint_000000"));
}

BOOST_AUTO_TEST_CASE(where_there_is_no_capacity_it_looks_again_only_when_that_has_changed) {
  Rig run = after_a_look(1);
  run.advance(100s);
  BOOST_TEST(run.count<LookForCapacity>() == 1U);
  run.send(CapacityChanged{});
  BOOST_TEST(run.count<LookForCapacity>() == 2U);
  run.send(CapacityChanged{});  // Once an interval at most.
  BOOST_TEST(run.count<LookForCapacity>() == 2U);
  run.send(CapacitySeen{0});
  run.checkpoint();
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(5s);
  BOOST_TEST(run.count<LookForCapacity>() == 3U);
}

BOOST_AUTO_TEST_CASE(a_group_that_has_all_its_workers_or_is_of_one_size_never_looks) {
  for (Rig run : {running_on({"a", "b"}, elastic_spec(1, 2, 0)), running_on({"a", "b"}, spec_of(2)),
                  running_on({"a", "b"}, elastic_spec(2, 2, 0))}) {
    run.send(CapacityChanged{});
    run.advance(1h);
    BOOST_TEST(run.count<LookForCapacity>() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_group_of_which_a_rank_has_returned_is_left_to_end) {
  Rig run = running_on({"a", "b"}, elastic_spec(1, 3, 0));
  run.returns(0);
  run.send(CapacityChanged{});
  BOOST_TEST(run.count<LookForCapacity>() == 0U);
  run.returns(1);
  BOOST_TEST(run.count<RunTeardown>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_lost_node_shrinks_it_and_counts_as_a_failure) {
  Rig run = running_on({"a", "b"}, elastic_spec(1, 2));
  run.checkpoint();
  run.send(NodeLost{"b", "its connection ended"});
  run.group_ends();
  BOOST_TEST(contains(last_notice(run), "Restarting the worker group (failure 1 of 3 allowed) from checkpoint_000000"));
  BOOST_TEST(run.last<AcquireNodes>().workers_min == 1);
  grant_on(run, {"a"});
  BOOST_TEST(run.last<StartWorkers>().plans.size() == 1U);
  BOOST_TEST(run.last<StartWorkers>().plans[0].local_world_size == 1);
  BOOST_TEST(last_notice(run) == "The worker group has 1 worker now, 2 before (num_workers is 1 to 2)");
  run.restart();
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_restart_takes_the_capacity_that_there_is_by_then) {
  Rig run = running_on({"a"}, elastic_spec(1, 2));
  run.send(CapacityChanged{});
  run.killed(0);
  run.group_ends();
  BOOST_TEST(run.count<AcquireNodes>() == 2U);
  run.send(CapacityChanged{});  // By its own giving back.
  grant_on(run, {"a"});
  BOOST_TEST(run.restarts() == 1U);
}

BOOST_AUTO_TEST_CASE(a_group_that_does_not_end_by_itself_to_grow_is_killed) {
  Rig run = after_a_look(2, 0);
  run.advance(RunController::terminate_grace);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  BOOST_TEST(!run.last<EndWorkers>().reason.empty());
}

BOOST_AUTO_TEST_CASE(a_run_that_is_stopped_while_it_grows_is_over) {
  Rig run = after_a_look(2, 0);
  run.send(StopAsked{"far enough"});
  run.group_ends({true, 15, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.restarts() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
