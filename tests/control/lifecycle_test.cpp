#include "control/rig.hpp"

/// A run from its start to its end when nothing breaks, and what is asked of the driver on the way.
namespace headway::control {

BOOST_AUTO_TEST_SUITE(lifecycle_suite)

BOOST_AUTO_TEST_CASE(two_ranks_report_once_and_return_and_the_run_finishes_step_by_step) {
  Rig run(spec_of(2));
  run.start();
  BOOST_TEST(run.of_latest<PrepareStorage>().size() == 1U);
  run.storage_ready();
  BOOST_TEST(run.last<AcquireNodes>().workers == 2);
  run.grant();
  BOOST_TEST(run.last<StartWorkers>().plans.size() == 2U);
  BOOST_TEST(!run.last<StartWorkers>().checkpoint);
  run.ready(1);
  BOOST_TEST(run.count<RunSetup>() == 0U);
  run.ready(0);
  BOOST_TEST(run.last<RunSetup>().attempt == 1);
  BOOST_TEST(run.count<BeginTraining>() == 0U);
  run.setup_done();
  BOOST_TEST(run.last<BeginTraining>().attempt == 1);
  run.report_all({{"loss", 0.5}});
  BOOST_TEST(run.count<AppendResult>() == 1U);
  run.returns(0);
  BOOST_TEST(run.count<RunTeardown>() == 0U);
  run.returns(1);
  BOOST_TEST(run.count<RunTeardown>() == 1U);
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  run.teardown_done();
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::graceful));
  BOOST_TEST(run.count<ReleaseNodes>() == 0U);
  run.group_ends({false, 0, ""});
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
  BOOST_TEST(run.count<Finish>() == 0U);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(!run.outcome().failure);
  BOOST_TEST(run.outcome().attempts == 1);
  BOOST_TEST(run.count<Warn>() == 0U);
}

BOOST_AUTO_TEST_CASE(slots_of_cpus_alone_are_returned_when_the_last_rank_has_been_told_to_end) {
  RunSpec spec = spec_of(2);
  spec.returns_slots_early = true;
  spec.scaling.resources_per_worker = Resources{{"CPU", 1}};
  Rig run(spec);
  run.to_running();
  run.returns(0);
  run.returns(1);
  BOOST_TEST(run.count<ReleaseNodes>() == 0U);  // Hooks may need the ranks.
  run.teardown_done();
  BOOST_TEST(run.last<ReleaseNodes>().early);
  run.group_ends({false, 0, ""});
  BOOST_TEST(!run.last<ReleaseNodes>().early);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(what_a_process_has_until_its_end_is_returned_then) {
  for (const auto& [name, beside] : {std::pair{"GPU", false}, {"memory", false}, {"GPU", true}}) {
    RunSpec spec = spec_of(1);
    spec.returns_slots_early = true;
    Resources& held = beside ? spec.scaling.trainer_resources.emplace() : spec.scaling.resources_per_worker.emplace();
    held = {{"CPU", 1}, {name, 1}};
    Rig run(spec);
    run.to_running();
    run.returns(0);
    run.teardown_done();
    BOOST_TEST(run.count<ReleaseNodes>() == 0U);
    run.group_ends({false, 0, ""});
    BOOST_TEST(run.count<ReleaseNodes>() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_was_stopped_returns_its_slots_when_its_processes_are_gone) {
  RunSpec spec = spec_of(1);
  spec.returns_slots_early = true;
  Rig run(spec);
  run.to_running();
  run.send(StopAsked{"the user said so"});
  run.returns(0);  // Its function has caught the exception.
  BOOST_TEST(run.count<ReleaseNodes>() == 0U);
  run.group_ends({false, 0, ""});
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
}

BOOST_AUTO_TEST_CASE(local_mode_has_as_many_ranks_as_there_are_processes_and_claims_nothing) {
  RunSpec spec = spec_of(0);
  spec.local_ranks = 3;
  spec.scaling.use_gpu = true;
  Rig run(spec);
  run.start();
  run.storage_ready();
  BOOST_TEST(run.last<AcquireNodes>().workers == 3);
  BOOST_TEST(run.last<AcquireNodes>().claim.hard.empty());
  BOOST_TEST(run.last<AcquireNodes>().claim.advised_cpus == 0);
}

BOOST_AUTO_TEST_CASE(ranks_are_placed_in_the_order_of_their_slots_with_local_ranks_per_node) {
  Rig run(spec_of(4));
  run.start();
  run.storage_ready();
  const auto slot = [](const char* node) { return Slot{node, std::string("host-") + node, "", 1, {}}; };
  run.send(NodesGranted{{slot("a"), slot("a"), slot("b"), slot("a")}, {}});
  const std::vector<WorkerPlan> plans = run.last<StartWorkers>().plans;
  BOOST_REQUIRE(plans.size() == 4U);
  BOOST_TEST(plans[2].node_rank == 1);
  BOOST_TEST(plans[2].local_rank == 0);
  BOOST_TEST(plans[2].local_world_size == 1);
  BOOST_TEST(plans[3].rank == 3);
  BOOST_TEST(plans[3].node_rank == 0);
  BOOST_TEST(plans[3].local_rank == 2);
  BOOST_TEST(plans[3].local_world_size == 3);
}

BOOST_AUTO_TEST_CASE(warnings_of_the_engine_are_shown_before_workers_start) {
  Rig run(spec_of(1));
  run.start();
  run.storage_ready();
  run.grant({"8 workers share 2 CPUs"});
  BOOST_TEST(run.last<Warn>().text == "8 workers share 2 CPUs");
  BOOST_TEST(run.place<Warn>() < run.place<StartWorkers>());
}

BOOST_AUTO_TEST_CASE(the_first_attempt_gets_the_checkpoint_that_the_user_resumes_from) {
  RunSpec spec = spec_of(1);
  spec.resume_from_checkpoint = "/elsewhere/checkpoint_000003";
  Rig run(spec);
  run.to_starting();
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "/elsewhere/checkpoint_000003");
}

BOOST_AUTO_TEST_CASE(a_storage_that_cannot_be_written_ends_the_run_before_nodes_are_asked_for) {
  Rig run(spec_of(2));
  run.start();
  run.send(StoragePrepared{Error{ErrorKind::unavailable, "/storage/run: no space left on device"}});
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(run.failure() == "/storage/run: no space left on device");
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::unavailable));
  BOOST_TEST(run.count<AcquireNodes>() == 0U);
  BOOST_TEST(run.count<StartWorkers>() == 0U);
  BOOST_TEST(run.count<WriteJournal>() == 0U);
}

BOOST_AUTO_TEST_CASE(refused_nodes_end_the_run_with_the_reason_and_with_a_journal) {
  Rig run(spec_of(2));
  run.start();
  run.storage_ready();
  run.send(NodesRefused{{ErrorKind::invalid_argument, "2 workers with {GPU: 1} each can never be placed"}});
  BOOST_TEST(run.count<StartWorkers>() == 0U);
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(contains(run.failure(), "can never be placed"));
  BOOST_TEST(run.last<WriteJournal>().snapshot.state == "errored");
}

BOOST_AUTO_TEST_CASE(the_last_journal_fails_and_the_run_still_finishes_with_a_warning) {
  Rig run(spec_of(1));
  run.to_running();
  run.journals();
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  run.journal(Error{ErrorKind::unavailable, "disk full"});
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(contains(run.last<Warn>().text, "disk full"));
}

BOOST_AUTO_TEST_CASE(the_run_is_not_over_while_an_older_journal_is_written_and_the_last_one_is_not) {
  Rig run(spec_of(1));
  run.to_running();
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  BOOST_TEST(run.journals_open == 4);
  for (int older = 0; older < 3; ++older) run.journal();
  BOOST_TEST(run.count<Finish>() == 0U);
  run.journal();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(the_journal_says_what_the_run_does_and_is_not_written_at_each_report) {
  Rig run(spec_of(2, 3));
  const auto journal_state = [&run] { return run.last<WriteJournal>().snapshot.state; };
  run.to_starting();
  BOOST_TEST(journal_state() == "starting");
  run.restart();
  BOOST_TEST(journal_state() == "running");
  const std::size_t written = run.count<WriteJournal>();
  for (int step = 0; step < 100; ++step) run.report_all({{"step", step}});
  run.checkpoint();
  BOOST_TEST(run.count<WriteJournal>() == written);
  // The second one before its first report: the next attempt waits.
  for (int death = 0; death < 2; ++death) {
    run.killed(1);
    run.group_ends();
    run.restart();
  }
  run.killed(0);
  run.group_ends();
  BOOST_TEST(journal_state() == "restarting");
  const std::vector<std::string>& ends = run.last<WriteJournal>().snapshot.attempt_ends;
  BOOST_TEST(ends.size() == 3U);
  BOOST_TEST(contains(ends.back(), "was killed by SIGKILL"));
  run.advance(1s);
  run.restart();
  BOOST_TEST(journal_state() == "running");
}

BOOST_AUTO_TEST_CASE(the_journal_says_that_nodes_are_waited_for_and_why) {
  Rig run(spec_of(1, 1));
  run.to_running();
  run.send(NodeLost{"node-a", "its connection ended"});
  run.group_ends();
  const Journal snapshot = run.last<WriteJournal>().snapshot;
  BOOST_TEST(snapshot.state == "scheduling");
  BOOST_REQUIRE(snapshot.attempt_ends.size() == 1U);
  BOOST_TEST(contains(snapshot.attempt_ends.back(), "node node-a (host-a) is lost"));
}

BOOST_AUTO_TEST_CASE(the_journal_says_how_each_attempt_ended) {
  Rig run(spec_of(1, 1));
  run.to_running();
  run.checkpoint();
  run.raises(0, "bad batch");
  run.group_ends();
  run.restart();
  run.finish_all();
  const Journal snapshot = run.last<WriteJournal>().snapshot;
  BOOST_TEST(snapshot.state == "finished");
  BOOST_TEST(snapshot.attempt == 2);
  BOOST_TEST(snapshot.failures == 1);
  BOOST_TEST(snapshot.reports == 1);
  const std::vector<std::string>& ends = snapshot.attempt_ends;
  BOOST_REQUIRE(ends.size() == 2U);
  BOOST_TEST(ends[0] == "ValueError: bad batch");
  BOOST_TEST(ends[1] == "every rank has finished");
  BOOST_TEST(snapshot.checkpoints.size() == 1U);
}

BOOST_AUTO_TEST_CASE(events_of_an_attempt_that_is_over_change_nothing) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.killed(1);
  run.group_ends();
  run.restart();
  BOOST_TEST(run.attempt() == 2);
  const std::vector<Event> late = {WorkerReady{1, 0, 7},
                                   SetupFinished{1, RankError{"E", "late", "", false}},
                                   RankReported{1, 0, 0, {}, {}},
                                   RankReported{1, 1, 0, {}, {}},
                                   CheckpointBegun{1, 0, Error{ErrorKind::unavailable, "late"}},
                                   RankUploaded{1, 0, 0, {}, "late"},
                                   RankReturned{1, 0},
                                   RankRaised{1, 0, {"E", "late", "", false}},
                                   WorkerExited{1, 0, {true, 11, ""}, ""},
                                   GroupEnded{1},
                                   TeardownFinished{1}};
  for (const Event& event : late) BOOST_TEST(run.send(event).empty());
  BOOST_TEST((run.state() == RunState::running));
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.count<AppendResult>() == 0U);
}

BOOST_AUTO_TEST_CASE(events_of_ranks_that_are_not_there_and_events_before_their_time_change_nothing) {
  Rig run(spec_of(2));
  BOOST_TEST(run.send(StoragePrepared{}).empty());
  BOOST_TEST(run.send(NodesGranted{}).empty());
  run.to_starting();
  BOOST_TEST(run.send(StartAsked{}).empty());
  for (const int rank : {-1, 2, 1'000'000}) {
    BOOST_TEST(run.send(WorkerReady{1, rank, 7}).empty());
    BOOST_TEST(run.send(WorkerExited{1, rank, {true, 9, ""}, ""}).empty());
  }
  BOOST_TEST(run.send(RankReported{1, 0, 0, {}, {}}).empty());
  BOOST_TEST(run.send(TeardownFinished{1}).empty());
  BOOST_TEST(run.send(TimerFired{99}).empty());
  run.restart();
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.send(AbortAsked{"too late"}).empty());
}

BOOST_AUTO_TEST_CASE(a_worker_that_does_not_exit_after_its_return_is_killed_after_the_grace_with_a_warning) {
  Rig run(spec_of(2));
  run.to_running();
  run.returns(0);
  run.returns(1);
  run.teardown_done();
  run.exits(0, {false, 0, ""});
  run.advance(RunController::exit_grace - 1ns);
  BOOST_TEST(run.count<Warn>() == 0U);
  run.advance(1ns);
  BOOST_TEST(contains(run.last<Warn>().text, "had not exited 30.0 s after"));
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(exit_handlers_have_no_longer_than_hang_fail_s) {
  RunSpec spec = spec_of(2);
  spec.failure.hang_fail_s = 5;
  Rig run(spec);
  run.to_running();
  run.returns(0);
  run.returns(1);
  run.teardown_done();
  run.exits(0, {false, 0, ""});
  run.advance(5s - 1ns);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.advance(1ns);
  BOOST_TEST(contains(run.last<Warn>().text, "rank 1 had not exited 5.0 s after"));
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(workers_that_exit_in_time_are_not_killed_when_the_grace_is_over) {
  Rig run(spec_of(1));
  run.to_running();
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  run.advance(2 * RunController::exit_grace);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_worker_that_crashes_in_its_exit_handlers_is_told_and_the_result_stands) {
  Rig run(spec_of(2));
  run.to_running();
  run.returns(0);
  run.returns(1);
  run.teardown_done();
  run.exits(1, {true, 11, ""});
  BOOST_TEST(contains(run.last<Warn>().text, "rank 1 (pid 101 on host-a) was killed by SIGSEGV"));
  run.group_ends({false, 0, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(workers_that_all_crash_before_the_tear_down_hooks_are_through_end_the_run_as_finished) {
  Rig run(spec_of(2));
  run.to_running();
  run.returns(0);
  run.returns(1);
  run.group_ends();
  BOOST_TEST(run.send(TeardownFinished{1}).empty());
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.count<Warn>() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
