#include "control/rig.hpp"

/// A node goes, and takes its ranks out of reach: the others learn of it at once, and the next
/// attempt begins elsewhere, but not before the lost ranks can no longer live.
namespace headway::control {

namespace {

/// Ranks on host-a and host-b in turn.
void grant_two_nodes(Rig& run) {
  std::vector<Slot> slots;
  for (int rank = 0; rank < run.workers; ++rank) {
    const std::string name = rank % 2 == 0 ? "a" : "b";
    slots.push_back({"node-" + name, "host-" + name, "10.0.0.1", 1, {}});
  }
  run.send(NodesGranted{slots, {}});
}

Rig running_on_two_nodes(int workers, int max_failures = 0) {
  Rig run(spec_of(workers, max_failures));
  run.start();
  run.storage_ready();
  grant_two_nodes(run);
  run.restart();
  return run;
}

const NodeLost lost{"node-b", "its connection ended"};

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_node_suite)

BOOST_AUTO_TEST_CASE(the_others_are_ended_at_once_and_the_lost_ones_are_waited_for) {
  Rig run = running_on_two_nodes(4, 1);
  run.checkpoint();
  run.send(lost);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  BOOST_TEST(run.last<EndWorkers>().reason ==
             "node node-b (host-b) is lost, and ranks 1, 3 with it: its connection ended, in attempt 1");
  run.killed(0);
  run.killed(2);
  BOOST_TEST(run.count<AcquireNodes>() == 1U);
  BOOST_TEST(run.restarts() == 0U);
  run.group_ends();
  BOOST_TEST(run.count<AcquireNodes>() ==
             2U);  // What it has is given back with that, and not before: its place is kept.
  BOOST_TEST(run.count<ReleaseNodes>() == 0U);
  BOOST_TEST(run.restarts() == 0U);
  grant_two_nodes(run);
  // Another node-b would have another name: this grant came before the engine knew, and is not
  // taken.
  BOOST_TEST(run.restarts() == 0U);
  run.grant();
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
  for (const WorkerPlan& plan : run.last<StartWorkers>().plans) BOOST_TEST(plan.slot.node_id == "node-a");
}

BOOST_AUTO_TEST_CASE(the_wait_for_a_lost_nodes_lease_is_called_that_and_nobody_looks_at_its_ranks) {
  RunSpec spec = spec_of(4, 1);
  spec.failure.hang_warn_s = 10;
  Rig run(spec);
  run.start();
  run.storage_ready();
  grant_two_nodes(run);
  run.restart();
  run.send(lost);
  run.killed(0);
  run.killed(2);
  run.advance(10s);
  BOOST_TEST(run.last<ExamineRanks>().ranks.empty());
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with(
      "ranks 1, 3 were on a lost node, whose lease has not run out for 10.0 s: until then processes may still run "
      "there (attempt 1)\n"));
}

BOOST_AUTO_TEST_CASE(it_counts_as_a_failure_and_says_which_ranks) {
  Rig run = running_on_two_nodes(2);
  run.send(lost);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.failure().starts_with("node node-b (host-b) is lost, and rank 1 with it: its connection ended"));
  BOOST_TEST(contains(run.failure(), "  rank 0: in the training function"));
  const RunFailure failure = *run.outcome().failure;
  BOOST_REQUIRE(failure.ranks.size() == 1U);
  BOOST_TEST(failure.ranks[0].rank == 1);
  BOOST_TEST(failure.ranks[0].text == "its node node-b is lost: its connection ended");
}

BOOST_AUTO_TEST_CASE(a_node_without_ranks_of_this_run_is_nothing_to_it) {
  Rig run = running_on_two_nodes(2);
  run.send(NodeLost{"node-c", "its connection ended"});
  BOOST_TEST(run.latest.empty());
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_node_whose_ranks_have_returned_is_not_needed_any_more) {
  Rig run = running_on_two_nodes(2);
  run.returns(1);
  run.send(lost);
  run.killed(1);
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_node_that_goes_between_two_attempts_is_replaced) {
  Rig run = running_on_two_nodes(2, 5);
  for (int death = 0; death < 2; ++death) {  // After the second one before a report the next waits.
    run.killed(0);
    run.group_ends();
    if (death == 0) {
      run.gone.assign(2, false);
      run.restart();
    }
  }
  BOOST_TEST(run.restarts() == 1U);
  run.send(lost);
  run.advance(1s);
  BOOST_TEST(run.count<AcquireNodes>() == 2U);
  run.grant();
  BOOST_TEST(run.restarts() == 2U);
}

BOOST_AUTO_TEST_CASE(while_nodes_are_waited_for_the_run_can_be_ended) {
  Rig run = running_on_two_nodes(2, 1);
  run.send(lost);
  run.group_ends();
  run.send(AbortAsked{"Ctrl-C"});
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
