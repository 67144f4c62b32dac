#include "control/rig.hpp"

/// When the ranks' working directories are brought to storage, and when they go.
namespace headway::control {

namespace {

RunSpec syncing(bool on_checkpoint = true) {
  RunSpec spec = spec_of(1);
  spec.sync = {10, 60, true, on_checkpoint};
  return spec;
}

void synced(Rig& run, std::optional<std::string> error = {}) {
  run.send(ArtifactsSynced{run.last<SyncArtifacts>().number, std::move(error)});
}

void ranks_end(Rig& run) {
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(artifact_sync_suite)

BOOST_AUTO_TEST_CASE(a_run_that_does_not_ask_for_it_copies_nothing_and_its_directory_stays_if_it_is_not_empty) {
  Rig run(spec_of(1));
  run.to_running();
  run.checkpoint();
  run.advance(1h);
  run.finish_all();
  BOOST_TEST(run.count<SyncArtifacts>() == 0U);
  BOOST_TEST(run.last<LeaveWorkingDirectory>().synced == false);
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_copy_begins_with_each_commit_and_one_that_is_asked_for_meanwhile_comes_after_it) {
  Rig run(syncing());
  run.to_running();
  BOOST_TEST(run.count<SyncArtifacts>() == 0U);
  run.checkpoint();
  BOOST_TEST(run.count<SyncArtifacts>() == 1U);
  run.checkpoint();
  run.checkpoint();
  BOOST_TEST(run.count<SyncArtifacts>() == 1U);
  synced(run);
  BOOST_TEST(run.count<SyncArtifacts>() == 2U);
  synced(run);
  BOOST_TEST(run.count<SyncArtifacts>() == 2U);
}

BOOST_AUTO_TEST_CASE(without_commits_it_begins_every_period_over_restarts_too) {
  RunSpec spec = syncing(false);
  spec.failure.max_failures = 1;
  Rig run(spec);
  run.to_running();
  run.checkpoint();
  run.advance(9s);
  BOOST_TEST(run.count<SyncArtifacts>() == 0U);
  run.advance(2s);
  BOOST_TEST(run.count<SyncArtifacts>() == 1U);
  synced(run);
  run.killed(0);
  run.group_ends();
  run.restart();
  run.advance(10s);
  BOOST_TEST(run.count<SyncArtifacts>() == 2U);
  BOOST_TEST(run.attempt() == 2);
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_the_last_copy_and_then_the_directory_may_go) {
  Rig run(syncing());
  run.to_running();
  ranks_end(run);
  run.journals();
  BOOST_TEST(run.count<SyncArtifacts>() == 1U);
  BOOST_TEST((run.state() == RunState::closing));
  synced(run);
  BOOST_TEST(run.last<LeaveWorkingDirectory>().synced);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_copy_that_was_under_way_when_the_ranks_ended_is_followed_by_one_of_all_they_wrote) {
  Rig run(syncing());
  run.to_running();
  run.checkpoint();
  ranks_end(run);
  BOOST_TEST(run.count<SyncArtifacts>() == 1U);
  synced(run);
  BOOST_TEST(run.count<SyncArtifacts>() == 2U);
  BOOST_TEST(run.count<LeaveWorkingDirectory>() == 0U);
  synced(run);
  BOOST_TEST(run.last<LeaveWorkingDirectory>().synced);
}

BOOST_AUTO_TEST_CASE(a_copy_that_fails_is_warned_of_once_and_ends_nothing) {
  Rig run(syncing());
  run.to_running();
  run.checkpoint();
  synced(run, "no space left on device");
  BOOST_TEST(contains(run.last<Warn>().text, "artifacts/: no space left on device"));
  run.checkpoint();
  synced(run, "no space left on device");
  BOOST_TEST(run.count<Warn>() == 1U);
  BOOST_TEST((run.state() == RunState::running));
  ranks_end(run);
  synced(run, "permission denied");
  BOOST_TEST(run.count<Warn>() == 2U);
  BOOST_TEST(run.last<LeaveWorkingDirectory>().synced == false);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_slow_copy_is_stopped_at_its_limit_and_the_next_one_is_another) {
  Rig run(syncing());
  run.to_running();
  run.checkpoint();
  const std::int64_t slow = run.last<SyncArtifacts>().number;
  run.advance(59s);
  BOOST_TEST(run.count<StopSync>() == 0U);
  run.advance(2s);
  BOOST_TEST(run.last<StopSync>().number == slow);
  BOOST_TEST(contains(run.last<Warn>().text, "not through after 60 s"));
  run.checkpoint();
  BOOST_TEST(run.last<SyncArtifacts>().number != slow);
  run.send(ArtifactsSynced{slow, "the copy was stopped"});
  BOOST_TEST(run.of_latest<Warn>().empty());
  ranks_end(run);
  synced(run);
  synced(run);
  BOOST_TEST(run.last<LeaveWorkingDirectory>().synced);
}

BOOST_AUTO_TEST_CASE(a_last_copy_that_takes_too_long_leaves_the_directory_and_the_run_ends) {
  Rig run(syncing());
  run.to_running();
  ranks_end(run);
  run.advance(61s);
  BOOST_TEST(run.count<StopSync>() == 1U);
  BOOST_TEST(run.last<LeaveWorkingDirectory>().synced == false);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(after_an_abort_the_last_copy_has_five_seconds) {
  Rig run(syncing());
  run.to_running();
  run.checkpoint();
  run.send(AbortAsked{"Ctrl-C"});
  run.group_ends();
  run.advance(4s);
  BOOST_TEST(run.count<StopSync>() == 0U);
  run.advance(2s);
  BOOST_TEST(run.count<StopSync>() == 1U);
  BOOST_TEST(contains(run.last<Warn>().text, "not through after 5 s"));
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
}

BOOST_AUTO_TEST_CASE(a_run_that_never_had_workers_has_no_directory_to_leave) {
  Rig run(syncing());
  run.start();
  run.storage_ready();
  run.send(NodesRefused{{ErrorKind::invalid_argument, "no such GPU"}});
  run.journals();
  BOOST_TEST(run.count<LeaveWorkingDirectory>() == 0U);
  BOOST_TEST(run.count<SyncArtifacts>() == 0U);
  BOOST_TEST(run.outcome().state == "errored");
}

BOOST_AUTO_TEST_CASE(the_trainers_metadata_is_in_every_manifest_and_in_the_journal) {
  RunSpec spec = spec_of(1);
  spec.metadata = {{"scaler", 2.5}};
  Rig run(spec);
  run.to_running();
  run.checkpoint();
  BOOST_TEST(run.last<CommitCheckpoint>().manifest.metadata.value() == spec.metadata);
  BOOST_TEST(run.last<WriteJournal>().snapshot.spec.metadata == spec.metadata);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
