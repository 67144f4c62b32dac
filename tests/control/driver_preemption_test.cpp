#include "control/rig.hpp"

/// SIGTERM to the driver is a notice: the ranks may save a checkpoint, then the run ends, and the
/// next driver resumes it.
namespace headway::control {

namespace {

constexpr std::int64_t deadline_ms = 1'800'000'000'000;
const DriverPreempted notice{25, deadline_ms};

/// Two ranks at work, with failures to spare, and the notice has come.
Rig warned(RunSpec spec = spec_of(2, 5)) {
  Rig run(std::move(spec));
  run.to_running();
  run.send(notice);
  return run;
}

/// The group's processes end, and everything is written.
void over(Rig& run) {
  run.group_ends({true, 15, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_REQUIRE(run.outcome().failure.has_value());
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::preempted));
  BOOST_TEST(run.outcome().failure->preemption->of_driver.value());
  BOOST_TEST(run.restarts() == 0U);
}

/// The end of the last attempt, as the last journal has it.
std::string reason_of(const Rig& run) { return run.last<WriteJournal>().snapshot.attempt_ends.back(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(driver_preemption_suite)

BOOST_AUTO_TEST_CASE(every_rank_that_asks_learns_of_it_and_what_is_saved_then_ends_the_run) {
  Rig run = warned();
  BOOST_TEST(run.last<Notify>().text ==
             "The driver received SIGTERM: the run ends within 25.0 s, or as soon as a checkpoint is saved; every rank "
             "that asks for preemption info learns of it. A second SIGTERM ends it at once.");
  for (int rank = 0; rank < 2; ++rank) run.send(RankArrived{1, rank, 0, "get_preemption_info", 0});
  const std::optional<PreemptionInfo> info = run.last<ReleaseCollective>().preemption;
  BOOST_REQUIRE(info.has_value());
  BOOST_TEST(info->deadline_ms.value() == deadline_ms);
  BOOST_TEST((info->preempted_node_to_ranks == std::map<std::string, std::vector<int>>{{"node-a", {0, 1}}}));
  run.advance(3s);
  run.report_all({{"loss", 1}});
  BOOST_TEST(run.count<EndWorkers>() == 0U);  // Metrics alone save nothing.
  run.checkpoint();
  BOOST_TEST(run.count<AnswerReport>() == 4U);  // They know that it is stored.
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::terminate));
  BOOST_TEST(run.last<EndWorkers>().reason ==
             "preempted: the driver received SIGTERM; checkpoint_000000 was saved after that, in attempt 1");
  over(run);
  BOOST_TEST(!run.outcome().failure->preemption->timed_out);
  BOOST_TEST(run.last<Finish>().words.starts_with("preempted after 3.0 s: 2 reports; newest checkpoint: "));
  const Journal journal = run.last<WriteJournal>().snapshot;
  BOOST_TEST(journal.state == "errored");
  BOOST_TEST(journal.failure_kind.value() == "preempted");
  BOOST_TEST(journal.preemption->of_driver.value());
  BOOST_TEST((std::pair(journal.preemptions, journal.failures) == std::pair(1, 0)));
  BOOST_TEST(reason_of(run) == run.last<EndWorkers>().reason);
  BOOST_TEST(unfinished_reason(journal) == reason_of(run));
}

BOOST_AUTO_TEST_CASE(without_a_checkpoint_the_deadline_ends_the_run) {
  RunSpec spec = spec_of(2, 5);
  spec.failure.max_preemption_failures = 0;  // Nothing would follow in any case.
  Rig run = warned(spec);
  run.advance(24900ms);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.advance(100ms);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.advance(500ms);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  over(run);
  BOOST_TEST(run.outcome().failure->preemption->timed_out);
  BOOST_TEST(reason_of(run) ==
             "preempted: the driver received SIGTERM; ranks were still at work at the deadline, in attempt 1");
  BOOST_TEST(contains(run.failure(), "  rank 0: in the training function"));
  BOOST_TEST(!contains(run.failure(), "max_preemption_failures"));
}

BOOST_AUTO_TEST_CASE(a_second_notice_ends_the_run_at_once) {
  Rig run = warned();
  run.advance(1s);
  run.send(notice);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  over(run);
  BOOST_TEST(reason_of(run) == "preempted: the driver received SIGTERM; a second one came, in attempt 1");
}

BOOST_AUTO_TEST_CASE(ctrl_c_meanwhile_aborts_the_run) {
  Rig run = warned();
  run.send(AbortAsked{"Ctrl-C"});
  run.group_ends({true, 15, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
}

BOOST_AUTO_TEST_CASE(a_training_function_that_returns_meanwhile_has_finished) {
  Rig run = warned();
  run.advance(5s);
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_process_that_does_not_exit_after_its_function_has_the_deadline_too) {
  Rig run = warned();
  run.returns(0);
  run.returns(1);
  run.teardown_done();
  run.advance(25s);
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_ranks_wait_for_when_the_notice_comes_is_enough) {
  Rig run(spec_of(2));
  run.to_running();
  run.report_all({}, files({"model.pt"}));
  run.begun();
  run.send(notice);
  run.uploaded(0);
  run.committed();
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  over(run);
}

BOOST_AUTO_TEST_CASE(an_asynchronous_one_from_before_the_notice_is_not_enough) {
  CheckpointOffer offer = files({"model.pt"});
  offer.asynchronous = true;
  Rig run(spec_of(2));
  run.to_running();
  run.report_all({}, offer);
  run.begun();
  run.send(notice);
  run.uploaded(0);
  run.committed();
  BOOST_TEST(run.count<EndWorkers>() == 0U);  // The ranks have got further.
  run.report_all({}, offer);
  run.begun();
  run.uploaded(0);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.committed();
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  over(run);
}

BOOST_AUTO_TEST_CASE(ranks_that_die_meanwhile_were_preempted_and_what_a_function_raises_is_its_own) {
  Rig run = warned();
  run.killed(1, 15);  // The signal went to all processes of the machine.
  over(run);
  BOOST_TEST(reason_of(run).starts_with("preempted: the driver received SIGTERM; rank 1 (pid 101 on host-a) was "));
  BOOST_TEST(reason_of(run).ends_with("before its training function had returned, in attempt 1"));

  Rig raises = warned();
  raises.raises(0, "loss is NaN");
  raises.group_ends();
  raises.journals();
  BOOST_TEST((raises.outcome().failure->kind == ErrorKind::user_code));
  BOOST_TEST(raises.restarts() == 0U);
}

BOOST_AUTO_TEST_CASE(a_node_that_goes_at_the_same_time_goes_with_the_driver) {
  Rig run = warned();
  run.send(NodePreempted{"node-a", 10, deadline_ms - 15'000});
  run.advance(10s);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  over(run);
  BOOST_TEST(reason_of(run) == "preempted: the driver received SIGTERM; its nodes were taken away, in attempt 1");
}

BOOST_AUTO_TEST_CASE(a_run_whose_ranks_do_not_train_ends_at_once) {
  const auto ends_in = [](const auto& go_there, bool any_group) {
    Rig run(spec_of(2, 5));
    go_there(run);
    run.send(notice);
    if (any_group) run.group_ends();
    run.journals();
    BOOST_TEST(run.outcome().state == "errored");
    BOOST_TEST(run.failure().starts_with("preempted: the driver received SIGTERM; no rank was training"));
    BOOST_TEST(run.count<StartWorkers>() == (any_group ? 1U : 0U));
  };
  ends_in([](Rig& run) { run.start(); }, false);
  ends_in(
      [](Rig& run) {
        run.start();
        run.storage_ready();
      },
      false);
  ends_in([](Rig& run) { run.to_starting(); }, true);
  ends_in(
      [](Rig& run) {
        run.to_running();
        run.killed(1);
      },
      true);
}

BOOST_AUTO_TEST_CASE(nothing_starts_again_after_the_notice) {
  Rig run(spec_of(2, 5));
  run.to_running();
  run.killed(0);
  run.group_ends();
  run.restart();
  run.killed(0);
  run.group_ends();  // The third attempt waits.
  run.send(notice);
  run.journals();
  run.advance(1min);
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::preempted));
}

BOOST_AUTO_TEST_CASE(an_elastic_group_does_not_grow_after_the_notice) {
  RunSpec spec = spec_of(2);
  spec.scaling.min_workers = 1;
  Rig run = warned(spec);
  run.advance(5s);
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
