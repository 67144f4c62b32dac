#include "control/rig.hpp"

/// Runs whose folder is deleted, or taken over by another driver, and drivers that end before their
/// run.
namespace headway::control {

namespace {

const Error superseded{ErrorKind::superseded, "another driver has taken this run over: pid 7 on host-b"};
const Error gone{ErrorKind::not_found, "the run's folder /storage/run was deleted"};

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_run_suite)

BOOST_AUTO_TEST_CASE(an_older_owner_stops_at_its_next_commit_and_writes_nothing_more) {
  Rig run(spec_of(2, -1));
  run.to_running();
  run.journals();
  run.report_all({}, files({"model.pt"}));
  run.begun();
  run.uploaded(0);
  const std::size_t journals = run.count<WriteJournal>();
  run.committed(superseded);
  BOOST_TEST(run.count<DiscardCheckpoint>() == 0U, "what is there under that name may be the new owner's");
  BOOST_TEST(run.last<EndWorkers>().reason == superseded.message);
  run.group_ends();
  BOOST_TEST(run.count<WriteJournal>() == journals);
  BOOST_TEST(run.restarts() == 0U);
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(run.failure() == superseded.message);
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::superseded));
}

BOOST_AUTO_TEST_CASE(an_older_owner_stops_at_its_next_journal) {
  Rig run(spec_of(1, -1));
  run.to_starting();
  run.journal();
  run.journal(superseded);
  BOOST_TEST(run.count<Warn>() == 0U);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends();
  BOOST_TEST(run.failure() == superseded.message);
}

BOOST_AUTO_TEST_CASE(an_older_owner_that_waits_for_nodes_stops_too) {
  Rig run(spec_of(1));
  run.start();
  run.storage_ready();
  run.journal(superseded);
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
  BOOST_TEST(run.failure() == superseded.message);
}

BOOST_AUTO_TEST_CASE(the_last_journal_finds_a_newer_owner) {
  Rig run(spec_of(1));
  run.to_running();
  run.journals();
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  run.journal(superseded);
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(run.failure() == superseded.message);
}

BOOST_AUTO_TEST_CASE(a_deleted_folder_ends_the_run_at_once_and_without_a_restart) {
  Rig run(spec_of(2, -1));
  run.to_running();
  run.journals();
  run.report_all();
  run.send(FolderLost{gone});
  BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
  run.send(FolderLost{gone});
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.group_ends();
  BOOST_TEST(run.restarts() == 0U);
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_lost_while_hooks_run_after_training_ends_the_run) {
  Rig run(spec_of(1));
  run.to_running();
  run.journals();
  run.report_all();
  run.returns(0);
  run.send(FolderLost{gone});
  run.teardown_done();
  run.group_ends();
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_lost_between_two_attempts_ends_the_run) {
  Rig run(spec_of(1, -1));
  run.to_running();
  run.journals();
  run.report_all();
  run.raises(0, "bad batch");
  run.send(FolderLost{gone});
  run.group_ends();
  BOOST_TEST(run.restarts() == 0U);
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_lost_while_the_next_attempt_waits_ends_the_run) {
  Rig run(spec_of(1, -1));
  run.to_starting();
  for (int death = 0; death < 2; ++death) {
    run.killed(0);
    run.group_ends();
  }
  BOOST_TEST((run.state() == RunState::restarting));
  run.journals();
  run.send(FolderLost{gone});
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_lost_while_only_callbacks_are_waited_for_ends_the_run) {
  RunSpec spec = spec_of(1);
  spec.callback_lag_max = 5;
  Rig run(std::move(spec));
  run.to_running();
  run.journals();
  run.report_all();
  run.returns(0);
  run.group_ends({false, 0, ""});
  BOOST_TEST(run.count<Finish>() == 0U);
  run.send(FolderLost{gone});
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_CASE(what_waited_to_be_recorded_is_not_written_to_a_folder_that_is_lost) {
  Rig run(spec_of(1));
  run.to_running();
  run.journals();
  CheckpointOffer offer = files({"model.pt"});
  offer.asynchronous = true;
  run.report(0, {}, offer);
  run.begun();
  run.report(0);
  run.send(FolderLost{gone});
  run.group_ends();
  BOOST_TEST(run.count<CommitCheckpoint>() == 0U);
  BOOST_TEST(run.count<DiscardCheckpoint>() == 0U);
  BOOST_TEST(run.count<AppendResult>() == 0U);
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_CASE(a_commit_that_ends_when_the_folder_is_lost_counts_for_nothing) {
  RunSpec spec = spec_of(1);
  spec.checkpoint.num_to_keep = 1;
  Rig run(std::move(spec));
  run.to_running();
  run.journals();
  run.checkpoint();
  run.report(0, {}, files({"model.pt"}));
  run.begun();
  run.uploaded(0);
  run.send(FolderLost{gone});
  run.committed();
  run.group_ends();
  BOOST_TEST(run.count<AppendResult>() == 1U);
  BOOST_TEST(run.count<DeleteCheckpoint>() == 0U);
  BOOST_TEST(run.outcome().checkpoints.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_lost_while_the_run_closes_leaves_the_working_directory) {
  RunSpec spec = spec_of(1);
  spec.sync.sync_artifacts = true;
  Rig run(std::move(spec));
  run.to_running();
  run.journals();
  run.report_all();
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  run.send(FolderLost{gone});
  run.send(ArtifactsSynced{run.last<SyncArtifacts>().number, {}});
  BOOST_TEST(!run.last<LeaveWorkingDirectory>().synced);
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_CASE(an_abort_stays_an_abort_when_the_folder_is_lost_meanwhile) {
  Rig run(spec_of(1));
  run.to_running();
  run.journals();
  run.report_all();
  run.send(AbortAsked{"Ctrl-C"});
  run.send(FolderLost{gone});
  run.group_ends();
  BOOST_TEST(run.outcome().state == "aborted");
}

BOOST_AUTO_TEST_CASE(a_driver_that_ends_leaves_its_reason_and_a_run_to_go_on_with) {
  Rig run(spec_of(2));
  run.to_running();
  run.journals();
  run.checkpoint();
  run.send(DriverEnding{"headway.shutdown() ended the run"});
  const Journal journal = run.last<WriteJournal>().snapshot;
  BOOST_TEST(journal.state == "aborted");
  BOOST_TEST(journal.abort_reason.value() == "headway.shutdown() ended the run");
  BOOST_TEST(journal.attempt_ends.back() == "headway.shutdown() ended the run");
  BOOST_TEST(journal.checkpoints.size() == 1U);
  BOOST_TEST(run.outcome().state == "aborted");
  BOOST_TEST(run.failure() == "headway.shutdown() ended the run");
}

BOOST_AUTO_TEST_CASE(a_driver_that_ends_before_the_storage_is_there_writes_nothing) {
  Rig run(spec_of(2));
  run.start();
  run.send(DriverEnding{"headway.shutdown() ended the run"});
  BOOST_TEST(run.count<WriteJournal>() == 0U);
  BOOST_TEST(run.outcome().state == "aborted");
}

BOOST_AUTO_TEST_CASE(a_driver_that_ends_while_the_last_journal_is_written_ends_a_finished_run) {
  Rig run(spec_of(1));
  run.to_running();
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  const std::size_t journals = run.count<WriteJournal>();
  run.send(DriverEnding{"headway.shutdown() ended the run"});
  BOOST_TEST(run.count<WriteJournal>() == journals);
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
