#include "control/rig.hpp"

/// A node is taken away with notice: every rank can know it and save what it has, then the group
/// goes elsewhere; that is no failure.
namespace headway::control {

namespace {

constexpr std::int64_t deadline_ms = 1'800'000'000'000;
const NodePreempted notice{"b", 30, deadline_ms};

Rig starting(int limit, double grace_s, const std::vector<std::string>& nodes = {"a", "b"}) {
  RunSpec spec = spec_of(static_cast<int>(nodes.size()));
  spec.failure.max_preemption_failures = limit;
  spec.failure.preemption_grace_s = grace_s;
  Rig run(spec);
  run.start();
  run.storage_ready();
  grant_on(run, nodes);
  return run;
}

Rig running(int limit = -1, double grace_s = 0) {
  Rig run = starting(limit, grace_s);
  run.restart();
  return run;
}

/// Node b has its notice, and the others an hour's grace.
Rig warned(const std::vector<std::string>& nodes = {"a", "b"}) {
  Rig run = starting(-1, 3600, nodes);
  run.restart();
  run.send(notice);
  return run;
}

std::optional<PreemptionInfo> asked(Rig& run, std::int64_t index) {
  for (int rank = 0; rank < run.workers; ++rank)
    run.send(RankArrived{run.attempt(), rank, index, "get_preemption_info", 0});
  BOOST_TEST(run.last<ReleaseCollective>().index == index);
  BOOST_TEST(!run.last<ReleaseCollective>().root.has_value());
  return run.last<ReleaseCollective>().preemption;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(preemption_suite)

BOOST_AUTO_TEST_CASE(every_rank_that_asks_is_told_and_the_group_goes_elsewhere_at_the_deadline) {
  Rig run = running();
  BOOST_TEST(!asked(run, 0).has_value());
  run.send(notice);
  BOOST_TEST(run.last<Notify>().text ==
             "node b (host-b) will be taken away in 30.0 s, and rank 1 with it: every rank that asks for preemption "
             "info learns of it");
  const std::optional<PreemptionInfo> info = asked(run, 1);
  BOOST_REQUIRE(info.has_value());
  BOOST_TEST(info->deadline_ms.value() == deadline_ms);
  BOOST_TEST((info->preempted_node_to_ranks == std::map<std::string, std::vector<int>>{{"b", {1}}}));
  run.advance(10s);
  run.checkpoint();
  run.advance(19s);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(1s);
  BOOST_TEST(run.last<EndWorkers>().reason == "preempted: node b (host-b) with rank 1 is taken away, in attempt 1");
  run.group_ends();
  BOOST_TEST(
      contains(run.last<Notify>().text, "Restarting the worker group (preemption 1, no limit) from checkpoint_000000"));
  BOOST_TEST(run.count<AcquireNodes>() == 2U);
  grant_on(run, {"a", "c"});
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
  run.restart();
  BOOST_TEST(!asked(run, 0).has_value());  // None of its nodes.
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.last<WriteJournal>().snapshot.preemptions == 1);
  BOOST_TEST(run.last<WriteJournal>().snapshot.failures == 0);
}

BOOST_AUTO_TEST_CASE(a_run_that_is_through_before_the_deadline_has_finished) {
  Rig run = running(0);
  run.send(notice);
  run.advance(5s);
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(the_node_goes_before_its_deadline_and_that_is_no_failure_of_a_worker) {
  for (const bool node_first : {true, false}) {
    Rig run = running();
    run.send(notice);
    run.advance(3s);
    if (node_first) run.send(NodeLost{"b", "it left"});
    run.killed(1);
    BOOST_TEST(run.count<EndWorkers>() == 1U);
    run.group_ends();
    BOOST_TEST(contains(run.last<Notify>().text, "(preemption 1, no limit)"));
    grant_on(run, {"a", "b"});  // It crossed the news.
    BOOST_TEST(run.restarts() == 0U);
    grant_on(run, {"a", "a"});
    BOOST_TEST(run.restarts() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(more_preemptions_than_are_allowed_end_the_run_and_say_which) {
  Rig run = running(1);
  run.send(notice);
  run.advance(30s);
  run.group_ends();
  run.gone.assign(2, false);
  grant_on(run, {"a", "c"});
  run.restart();
  run.send(NodePreempted{"c", 2, deadline_ms + 7});
  run.advance(2s);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  const RunFailure failure = *run.outcome().failure;
  BOOST_TEST((failure.kind == ErrorKind::preempted));
  BOOST_TEST(failure.message.starts_with("preempted: node c (host-c) with rank 1 is taken away, in attempt 2\n"));
  BOOST_TEST(contains(failure.message, "  rank 0: in the training function"));
  BOOST_REQUIRE(failure.preemption.has_value());
  BOOST_TEST(failure.preemption->timed_out);
  BOOST_TEST(failure.preemption->info.deadline_ms.value() == deadline_ms + 7);
  BOOST_TEST((run.last<WriteJournal>().snapshot.preemption->info.preempted_node_to_ranks ==
              std::map<std::string, std::vector<int>>{{"c", {1}}}));
}

BOOST_AUTO_TEST_CASE(a_rank_that_raises_meanwhile_has_failed_as_ever) {
  Rig run = running();
  run.send(notice);
  run.raises(0, "loss is NaN");
  run.group_ends();
  run.journals();
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::user_code));
  BOOST_TEST(run.failure().starts_with("ValueError: loss is NaN"));
}

BOOST_AUTO_TEST_CASE(an_echo_of_the_node_s_end_is_no_failure) {
  Rig run = running();
  run.send(notice);
  run.raises(0, "connection reset by peer", true);
  run.send(NodeLost{"b", "it left"});
  run.group_ends();
  BOOST_TEST(contains(run.last<Notify>().text, "(preemption 1, no limit)"));
}

BOOST_AUTO_TEST_CASE(without_a_grace_whoever_is_left_was_cut_off_wherever_it_was) {
  for (const bool waits : {true, false}) {
    Rig run = running(0);
    run.send(notice);
    if (waits) run.send(RankArrived{1, 0, 0, "barrier", 0});
    run.send(NodeLost{"b", "it left"});
    run.group_ends();
    run.journals();
    BOOST_TEST(run.outcome().failure->preemption->timed_out);
  }
}

BOOST_AUTO_TEST_CASE(with_a_grace_the_others_may_go_on_until_it_is_over) {
  Rig run = running(0, 5);
  run.send(notice);
  run.advance(29s);
  run.send(NodeLost{"b", "it left"});
  run.killed(1);
  run.advance(5900ms);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(200ms);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().failure->preemption->timed_out);
}

BOOST_AUTO_TEST_CASE(with_a_grace_the_group_ends_when_all_the_others_are_through) {
  for (const bool raises : {true, false}) {
    Rig run = running(0, 60);
    run.send(notice);
    run.send(NodeLost{"b", "it left"});
    BOOST_TEST(run.count<EndWorkers>() == 0U);
    if (raises) {
      run.raises(0, "a peer is gone");
    } else {
      run.returns(0);
    }
    BOOST_TEST(run.count<EndWorkers>() == 1U);
    run.group_ends();
    run.journals();
    BOOST_TEST((run.outcome().failure->kind == ErrorKind::preempted));
    BOOST_TEST(!run.outcome().failure->preemption->timed_out);
  }
}

BOOST_AUTO_TEST_CASE(nobody_sits_out_the_grace_in_a_call_to_which_a_lost_rank_will_never_come) {
  for (const bool waits_before : {true, false}) {
    for (const bool report : {true, false}) {
      Rig run = warned();
      const auto waits = [&] {
        if (report) run.report(0);
        if (!report) run.send(RankArrived{1, 0, 0, "barrier", 0});
      };
      if (waits_before) waits();
      run.send(NodeLost{"b", "it left"});
      BOOST_TEST(run.count<EndWorkers>() == (waits_before ? 1U : 0U));
      if (!waits_before) waits();
      BOOST_REQUIRE(run.count<EndWorkers>() == 1U);
      BOOST_TEST(run.last<EndWorkers>().reason == "preempted: node b (host-b) with rank 1 is taken away, in attempt 1");
      run.group_ends();
      BOOST_TEST(contains(run.last<Notify>().text, "(preemption 1, no limit)"));
    }
  }
}

BOOST_AUTO_TEST_CASE(one_that_waits_in_vain_leaves_another_the_grace_to_store_what_it_has) {
  Rig run = warned({"a", "a", "b"});
  run.report(0);
  run.killed(2);
  run.advance(1min);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);  // Nobody hangs: why rank 0 waits is known.
  run.report(1);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_report_that_the_lost_rank_had_made_is_stored_in_the_grace) {
  Rig run = warned();
  run.report_all({}, files({"model.pt"}));
  run.begun();
  run.send(NodeLost{"b", "it left"});
  run.killed(1);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.uploaded(0);
  run.committed();
  BOOST_TEST(run.count<EndWorkers>() == 0U);  // It goes on; how far it comes, nobody knows.
  run.report(0);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends();
  BOOST_TEST(contains(run.last<Notify>().text, "(preemption 1, no limit) from checkpoint_000000"));
}

BOOST_AUTO_TEST_CASE(a_report_whose_files_a_lost_rank_had_is_not_waited_for) {
  Rig run = warned();
  run.report(0);
  run.report(1, {}, files({"model.pt"}));
  run.begun();
  // What is left of it may live until its lease ends.
  run.send(NodeLost{"b", "its connection ended"});
  BOOST_TEST(run.count<EndWorkers>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_returned_may_still_store_what_it_has) {
  Rig run = warned();
  CheckpointOffer offer = files({"model.pt"});
  offer.asynchronous = true;
  run.report_all({}, offer);
  run.begun();
  run.returns(0);
  run.killed(1);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.uploaded(0);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_group_that_starts_on_the_node_starts_elsewhere_at_once) {
  Rig run = starting(-1, 0);
  run.send(notice);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends();
  grant_on(run, {"a", "c"});
  BOOST_TEST(run.restarts() == 1U);
}

BOOST_AUTO_TEST_CASE(a_node_without_ranks_of_this_run_or_told_twice_is_nothing_to_it) {
  Rig run = running();
  run.send(NodePreempted{"c", 30, deadline_ms});
  BOOST_TEST(run.latest.empty());
  run.send(notice);
  run.send(notice);
  BOOST_TEST(run.latest.empty());
  run.returns(1);
  run.advance(30s);
  BOOST_TEST(run.count<EndWorkers>() == 0U);  // The rank there has finished.
}

BOOST_AUTO_TEST_CASE(two_nodes_go_and_the_first_deadline_counts) {
  Rig run = starting(-1, 0, {"a", "b", "c", "b"});
  run.restart();
  run.send(notice);
  run.send(NodePreempted{"c", 10, deadline_ms - 20'000});
  const std::optional<PreemptionInfo> info = asked(run, 0);
  BOOST_TEST(info->deadline_ms.value() == deadline_ms - 20'000);
  BOOST_TEST((info->preempted_node_to_ranks == std::map<std::string, std::vector<int>>{{"b", {1, 3}}, {"c", {2}}}));
  run.advance(10s);
  BOOST_TEST(run.last<EndWorkers>().reason ==
             "preempted: node b (host-b) with ranks 1, 3, node c (host-c) with rank 2 are taken away, in attempt 1");
}

BOOST_AUTO_TEST_CASE(a_rank_that_calls_something_else_is_named) {
  Rig run = running();
  run.send(RankArrived{1, 0, 0, "get_preemption_info", 0});
  run.send(RankArrived{1, 1, 0, "barrier", 0});
  run.group_ends();
  run.journals();
  BOOST_TEST(run.failure().starts_with("rank 0 called get_preemption_info() and rank 1 called barrier()"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(budget_suite)

BOOST_AUTO_TEST_CASE(a_first_start_that_fails_counts_as_a_failure_of_the_group) {
  Rig run(spec_of(2));
  run.to_starting();
  run.killed(1);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
}

BOOST_AUTO_TEST_CASE(a_group_that_can_not_be_started_again_has_a_budget_of_its_own) {
  RunSpec spec = spec_of(2, 1);
  spec.failure.controller_failure_limit = 2;
  Rig run(spec);
  run.to_running();
  run.killed(0);
  run.group_ends();
  for (int start = 1; start <= 2; ++start) {
    run.killed(1);
    run.group_ends();
    BOOST_TEST(contains(run.last<Notify>().text, "(failed start " + std::to_string(start) + " of 2 allowed)"));
    run.advance(1s);
  }
  BOOST_TEST(run.restarts() == 3U);
  run.killed(1);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(run.last<WriteJournal>().snapshot.start_failures == 3);
  BOOST_TEST(run.last<WriteJournal>().snapshot.failures == 1);
}

BOOST_AUTO_TEST_CASE(without_a_limit_such_starts_wait_longer_each_time) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.killed(0);
  run.group_ends();
  for (int start = 0; start < 20; ++start) {
    run.killed(1);
    run.group_ends();
    run.advance(30s);
  }
  BOOST_TEST(run.restarts() == 21U);
  run.restart();
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_hook_that_raises_is_the_user_s_own_failure) {
  RunSpec spec = spec_of(1, 1);
  Rig run(spec);
  run.to_running();
  run.killed(0);
  run.group_ends();
  run.all_ready();
  run.send(SetupFinished{run.attempt(), RankError{"ValueError", "no port", "", false}});
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
