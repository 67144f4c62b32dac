#include "control/rig.hpp"

/// Defects that the simulator found, each as the shortest run that shows it. docs/bugs.md lists
/// them with their seeds.
namespace headway::control {
namespace {

CheckpointOffer asynchronous(const std::vector<std::string>& names) {
  CheckpointOffer offer = files(names);
  offer.asynchronous = true;
  return offer;
}

const Error disk_full{ErrorKind::unavailable, "no space left on device"};

/// A checkpoint named "last" could neither be committed nor deleted.
struct UndeletedLast {
  UndeletedLast() {
    run.to_running();
    last.directory_name = "last";
    run.report(0, {}, last);
    run.begun();
    run.uploaded(0);
    run.committed(disk_full);
    run.deleted(disk_full);
  }

  Rig run{spec_of(1)};
  CheckpointOffer last = files({"model"});
};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulated_incidents_suite)

BOOST_AUTO_TEST_CASE(a_commit_that_is_said_to_have_failed_leaves_no_checkpoint_that_nobody_knows_of) {
  Rig run(spec_of(1));
  run.to_running();
  run.report(0, {}, files({"model"}));
  run.begun();
  run.uploaded(0);
  run.committed(disk_full);
  // Its manifest may be there: what is only discarded when it has none would stay, and block its
  // name for the next attempt.
  BOOST_TEST(run.count<DiscardCheckpoint>() == 0U);
  BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000000");
  BOOST_TEST(contains(run.last<DeleteCheckpoint>().reason, "no space left on device"));
}

BOOST_AUTO_TEST_CASE(an_abort_while_storage_is_probed_writes_no_journal_to_a_folder_that_may_be_anothers) {
  Rig run(spec_of(1));
  run.start();
  run.send(AbortAsked{"Ctrl-C"});
  BOOST_TEST(run.count<WriteJournal>() == 0U);
  BOOST_TEST(run.outcome().state == "aborted");
  BOOST_TEST(run.send(StoragePrepared{Error{ErrorKind::already_exists, "there is already a run"}}).empty());
}

BOOST_AUTO_TEST_CASE(a_rank_that_returned_and_left_before_its_upload_was_ordered_does_not_hang_the_others) {
  Rig run(spec_of(2));
  run.to_running();
  run.report(0, {}, files({"of_0"}));
  run.report(1, {}, files({"of_1"}));
  run.returns(0);  // A thread of it had made the report.
  run.exits(0, {false, 0, ""});
  run.begun();
  BOOST_TEST(run.count<UploadFiles>() == 1U);
  BOOST_TEST(run.last<UploadFiles>().rank == 1);
  run.uploaded(1);
  BOOST_TEST(contains(run.last<AnswerReport>().error.value_or(""), "ended before it had stored its part"));
}

BOOST_AUTO_TEST_CASE(a_report_whose_ranks_all_left_before_it_was_stored_fails_the_attempt) {
  Rig run(spec_of(1));
  run.to_running();
  run.report(0, {}, files({"model"}));
  run.returns(0);
  run.group_ends({false, 0, ""});
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(contains(run.failure(), "the checkpoint checkpoint_000000 of report #1 was not stored"));
}

BOOST_AUTO_TEST_CASE(a_commit_that_ends_after_its_group_asks_nothing_of_ranks_that_are_gone) {
  Rig run(spec_of(1));
  run.to_running();
  run.report(0, {}, asynchronous({"model"}));
  run.begun();
  run.uploaded(0);
  run.returns(0);
  run.group_ends({false, 0, ""});
  run.committed();
  BOOST_TEST(run.count<AnnounceCheckpoint>() == 0U);
  BOOST_TEST(run.count<RunTeardown>() == 0U);
  BOOST_TEST(run.count<AppendResult>() == 1U);
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(an_echo_that_is_believed_when_nobody_is_left_ends_no_processes) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.raises(0, "connection reset by peer", true);
  run.returns(1);
  run.group_ends({false, 0, ""});
  BOOST_TEST(run.count<EndWorkers>() == 0U);
  BOOST_TEST(run.restarts() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_deletion_that_failed_is_not_tried_again_on_a_new_checkpoint_of_the_same_name, UndeletedLast) {
  run.report(0, {}, last);
  // The name is to be free before it is begun again.
  BOOST_TEST(run.count<DeleteCheckpoint>() == 2U);
  BOOST_TEST(run.place<DeleteCheckpoint>(1) < run.place<BeginCheckpoint>(1));
  run.deleted(disk_full);
  run.begun();
  run.uploaded(0);
  run.committed();
  run.finish_all();
  BOOST_TEST(run.count<DeleteCheckpoint>() == 2U);
  BOOST_TEST(run.outcome().checkpoints.size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_deletion_that_failed_is_not_tried_again_while_a_rank_writes_under_the_name, UndeletedLast) {
  last.asynchronous = true;
  run.report(0, {}, last);
  run.deleted(disk_full);
  run.begun();  // Nothing committed was in its way: from now on its files are stored there.
  run.report(0, {}, asynchronous({"model"}));
  BOOST_TEST(run.count<DeleteCheckpoint>() == 2U);
  BOOST_TEST(run.last<BeginCheckpoint>().name == "checkpoint_000000");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
