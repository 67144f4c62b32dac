#include "control/rig.hpp"

/// Reports that carry a checkpoint: who uploads what, the commit, and what a failure on the way
/// leaves.
namespace headway::control {

BOOST_AUTO_TEST_SUITE(checkpoint_report_suite)

BOOST_AUTO_TEST_CASE(a_report_with_a_checkpoint_of_one_rank_is_answered_only_after_the_commit) {
  Rig run(spec_of(2));
  run.to_running();
  run.report(0, {{"loss", 0.5}});
  run.report(1, {{"loss", 9.0}}, files({"b.pt", "a.pt"}));
  BOOST_TEST(run.last<BeginCheckpoint>().name == "checkpoint_000000");
  BOOST_TEST(run.count<UploadFiles>() == 0U);
  run.begun();
  BOOST_REQUIRE(run.count<UploadFiles>() == 1U);
  BOOST_TEST(run.last<UploadFiles>().rank == 1);
  BOOST_TEST(run.last<UploadFiles>().name == "checkpoint_000000");
  BOOST_TEST(run.count<CommitCheckpoint>() == 0U);
  run.uploaded(1);
  const Manifest manifest = run.last<CommitCheckpoint>().manifest;
  BOOST_TEST(manifest.checkpoint == "checkpoint_000000");
  BOOST_TEST(manifest.world_size == 2);
  BOOST_TEST(manifest.metrics.at("loss").as_double() == 0.5);
  BOOST_REQUIRE(manifest.files.size() == 2U);
  BOOST_TEST(manifest.files[0].name == "a.pt");
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  run.committed();
  const auto answers = run.of_latest<AnswerReport>();
  BOOST_REQUIRE(answers.size() == 2U);
  for (const AnswerReport& answer : answers) BOOST_TEST(answer.checkpoint.value() == "checkpoint_000000");
  BOOST_TEST(run.last<AppendResult>().line.checkpoint.value() == "checkpoint_000000");
}

BOOST_AUTO_TEST_CASE(all_ranks_upload_their_own_files_in_any_order_and_the_last_brings_the_commit) {
  Rig run(spec_of(3));
  run.to_running();
  for (const int rank : {2, 0, 1}) run.report(rank, {}, files({"shard_" + std::to_string(rank)}));
  run.begun();
  BOOST_TEST(run.count<UploadFiles>() == 3U);
  run.uploaded(1);
  run.uploaded(0);
  BOOST_TEST(run.count<CommitCheckpoint>() == 0U);
  run.uploaded(2);
  const std::vector<FileRecord> stored = run.last<CommitCheckpoint>().manifest.files;
  BOOST_REQUIRE(stored.size() == 3U);
  for (int rank = 0; rank < 3; ++rank) BOOST_TEST(stored[static_cast<std::size_t>(rank)].rank == rank);
}

BOOST_AUTO_TEST_CASE(one_file_name_from_several_ranks_is_uploaded_by_the_lowest_and_warned_of_once_a_run) {
  Rig run(spec_of(3));
  run.to_running();
  for (int round = 0; round < 2; ++round) {
    run.report(2, {}, files({"model.pt"}));
    run.report(1, {}, files({"model.pt", "own.pt"}));
    run.report(0);
    run.begun();
    const auto orders = run.of_latest<UploadFiles>();
    BOOST_REQUIRE(orders.size() == 1U);
    BOOST_TEST(orders[0].rank == 1);
    BOOST_TEST(orders[0].files.size() == 2U);
    run.uploaded(1);
    run.committed();
  }
  BOOST_REQUIRE(run.count<Warn>() == 1U);
  BOOST_TEST(contains(run.last<Warn>().text, "ranks 1 and 2 both put a file named \"model.pt\""));
  BOOST_TEST(run.count<AppendResult>() == 2U);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_without_files_is_committed_without_an_upload) {
  Rig run(spec_of(1));
  run.to_running();
  run.report(0, {}, CheckpointOffer{});
  run.begun();
  BOOST_TEST(run.count<UploadFiles>() == 0U);
  BOOST_TEST(run.of_latest<CommitCheckpoint>().size() == 1U);
  run.committed();
  BOOST_TEST(run.count<AnswerReport>() == 1U);
}

BOOST_AUTO_TEST_CASE(the_user_names_the_directory_and_the_lowest_rank_that_does_so_counts) {
  Rig run(spec_of(3));
  run.to_running();
  CheckpointOffer high = files({"b"});
  high.directory_name = "from_rank_2";
  CheckpointOffer low = files({"a"});
  low.directory_name = "epoch-3";
  run.report(2, {}, high);
  run.report(1, {}, low);
  run.report(0, {}, files({"c"}));
  BOOST_TEST(run.last<BeginCheckpoint>().name == "epoch-3");
}

BOOST_AUTO_TEST_CASE(names_go_on_after_a_restart_and_are_never_used_twice) {
  Rig run(spec_of(1, 1));
  run.to_running();
  BOOST_TEST(run.checkpoint() == "checkpoint_000000");
  run.report(0, {}, files({"model.pt"}));
  run.killed(0);
  run.group_ends();
  run.restart();
  BOOST_TEST(run.checkpoint() == "checkpoint_000002");
}

BOOST_AUTO_TEST_CASE(the_directory_cannot_be_made_and_every_rank_gets_the_error_and_the_next_report_works) {
  Rig run(spec_of(2));
  run.to_running();
  run.report_all({}, files({"model.pt"}));
  run.send(CheckpointBegun{1, 0, Error{ErrorKind::unavailable, "no space left on device"}});
  const auto answers = run.of_latest<AnswerReport>();
  BOOST_REQUIRE(answers.size() == 2U);
  BOOST_TEST(error_text(answers, 0) == "the checkpoint could not be begun: no space left on device");
  BOOST_TEST(error_text(answers, 1) == error_text(answers, 0));
  BOOST_TEST(run.count<AppendResult>() == 0U);
  BOOST_TEST(run.last<DiscardCheckpoint>().name == "checkpoint_000000");
  BOOST_TEST(run.checkpoint() == "checkpoint_000001");
  BOOST_TEST(run.last<AppendResult>().line.iteration == 1);
  BOOST_TEST(run.last<AppendResult>().line.index == 1);
}

BOOST_AUTO_TEST_CASE(one_upload_fails_and_the_report_fails_in_all_ranks_but_not_before_the_others_have_ended_writing) {
  Rig run(spec_of(3));
  run.to_running();
  for (int rank = 0; rank < 3; ++rank) run.report(rank, {}, files({"shard_" + std::to_string(rank)}));
  run.begun();
  run.upload_failed(1, "shard_1: disk full");
  BOOST_TEST(run.count<DiscardCheckpoint>() == 0U);
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  run.uploaded(0);
  run.upload_failed(2, "shard_2: disk full");
  const auto answers = run.of_latest<AnswerReport>();
  BOOST_REQUIRE(answers.size() == 3U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    BOOST_TEST(error_text(answers, rank) == "rank 1 could not store its part of the checkpoint: shard_1: disk full");
  }
  BOOST_TEST(run.place<DiscardCheckpoint>() < run.place<AnswerReport>());
  BOOST_TEST(run.count<CommitCheckpoint>() == 0U);
  BOOST_TEST(run.count<AppendResult>() == 0U);
  run.report_all();
  BOOST_TEST(run.count<AppendResult>() == 1U);
}

BOOST_AUTO_TEST_CASE(the_commit_fails_and_the_report_fails_in_all_ranks_and_the_next_one_works) {
  Rig run(spec_of(2));
  run.to_running();
  run.report_all({}, files({"model.pt"}));
  run.begun();
  run.uploaded(0);
  run.committed(Error{ErrorKind::unavailable, "I/O error"});
  const auto answers = run.of_latest<AnswerReport>();
  BOOST_REQUIRE(answers.size() == 2U);
  BOOST_TEST(error_text(answers, 1) == "the checkpoint could not be committed: I/O error");
  BOOST_TEST(!run.controller.book().newest());
  BOOST_TEST(run.checkpoint() == "checkpoint_000001");
  BOOST_TEST(run.controller.book().newest().value() == "checkpoint_000001");
}

BOOST_AUTO_TEST_CASE(answers_of_uploads_that_nobody_waits_for_change_nothing) {
  Rig run(spec_of(2));
  run.to_running();
  run.report_all({}, files({"model.pt"}));
  run.begun();
  BOOST_TEST(run.send(RankUploaded{1, 1, 0, {}, "not asked"}).empty());
  BOOST_TEST(run.send(RankUploaded{1, 0, 5, {}, "another report"}).empty());
  BOOST_TEST(run.send(CheckpointCommitted{0, {}}).empty());
  run.uploaded(0);
  BOOST_TEST(run.send(RankUploaded{1, 0, 0, {}, "twice"}).empty());
  run.committed();
  BOOST_TEST(run.count<AppendResult>() == 1U);
}

BOOST_AUTO_TEST_CASE(what_num_to_keep_gives_up_is_deleted_after_the_answers_with_its_reason) {
  RunSpec spec = spec_of(1);
  spec.checkpoint.num_to_keep = 1;
  Rig run(spec);
  run.to_running();
  run.checkpoint();
  BOOST_TEST(run.count<DeleteCheckpoint>() == 0U);
  run.checkpoint();
  BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000000");
  BOOST_TEST(run.last<DeleteCheckpoint>().reason == "only 1 are kept (num_to_keep)");
  BOOST_TEST(run.place<AnswerReport>(1) < run.place<DeleteCheckpoint>());
  run.finish_all();
  BOOST_REQUIRE(run.outcome().checkpoints.size() == 1U);
  BOOST_TEST(run.outcome().checkpoints[0].name == "checkpoint_000001");
}

BOOST_AUTO_TEST_CASE(a_storage_path_that_nodes_do_not_share_is_told_with_the_nodes_that_do_not_see_it) {
  RunSpec spec = spec_of(3);
  spec.run.storage_path = "/local/results";
  Rig run(spec);
  run.start();
  run.storage_ready();
  const Slot here{"node-a", "host-a", "10.0.0.1", 1, {}};
  const Slot there{"node-b", "host-b", "10.0.0.2", 1, {}};
  run.send(NodesGranted{{here, there, there}, {}});
  run.all_ready();
  run.setup_done();
  for (int rank = 0; rank < 3; ++rank) run.report(rank, {}, files({"part" + std::to_string(rank)}));
  run.begun();
  run.send(RankUploaded{run.attempt(), 2, 0, {}, "checkpoint has not been begun", {}, true});
  run.send(RankUploaded{run.attempt(), 1, 0, {}, "checkpoint has not been begun", {}, true});
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  run.uploaded(0);
  BOOST_TEST(
      run.last<AnswerReport>().error.value() ==
      "the storage path /local/results is not shared by all nodes: what the driver made there is not seen on host-b "
      "(ranks 1, 2). Checkpoints need a RunConfig.storage_path that every node shares, such as a mounted NFS folder or "
      "s3://...");
  BOOST_TEST(run.count<DiscardCheckpoint>() == 1U);
  run.report_all({{"loss", 1}});
  BOOST_TEST(run.count<AppendResult>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_manifest_has_rank_zeros_positions_whoever_gives_the_checkpoint) {
  Rig run(spec_of(2));
  run.to_running();
  const JsonObject positions{{"train", JsonObject{{"rows_before", 512}}}};
  run.send(RankReported{run.attempt(), 1, 0, {}, files({"model.pt"}), {}, {}, JsonObject{{"train", 1}}});
  run.send(RankReported{run.attempt(), 0, 0, {}, {}, {}, {}, positions});
  run.begun();
  run.uploaded(1);
  BOOST_TEST((run.last<CommitCheckpoint>().manifest.data == positions));
}

BOOST_AUTO_TEST_CASE(storage_that_a_rank_does_not_see_is_named_as_people_know_it_and_without_its_secrets) {
  const auto told = [](const std::string& storage_path) {
    RunSpec spec = spec_of(1);
    spec.run.storage_path = storage_path;
    Rig run(spec);
    run.to_running();
    run.report(0, {}, files({"part"}));
    run.begun();
    run.send(RankUploaded{run.attempt(), 0, 0, {}, "checkpoint has not been begun", {}, true});
    const std::string words = run.last<AnswerReport>().error.value();
    return words.substr(0, words.find(" is not shared"));
  };
  BOOST_TEST(told("s3://key:secret@bucket/runs?secret_key=abc") == "the storage path s3://bucket/runs?secret_key=...");
  BOOST_TEST(told("python-1a2b3c4d:///runs") == "the storage path /runs on RunConfig.storage_filesystem");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
