#include "control/rig.hpp"

/// A checkpoint under way when its worker group dies: what is committed is resumed from, what is
/// not is as if it had never been.
namespace headway::control {

namespace {

/// Two ranks with one committed checkpoint, and a second one uploaded, whose commit is under way.
void to_second_commit(Rig& run) {
  run.to_running();
  run.checkpoint({{"loss", 0.9}});
  run.report_all({{"loss", 0.4}}, files({"model.pt"}));
  run.begun();
  run.uploaded(0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(commit_and_death_suite)

BOOST_AUTO_TEST_CASE(a_rank_dies_during_the_commit_which_succeeds_and_the_run_resumes_from_it) {
  Rig run(spec_of(2, 1));
  to_second_commit(run);
  run.killed(1);
  BOOST_TEST((run.state() == RunState::restarting));
  run.group_ends();
  BOOST_TEST(run.restarts() == 0U);
  run.committed();
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000001");
  BOOST_TEST(run.count<AppendResult>() == 2U);
  BOOST_TEST(run.last<AppendResult>().line.checkpoint.value() == "checkpoint_000001");
  BOOST_TEST(run.place<AppendResult>(1) < run.place<StartWorkers>(1));
  BOOST_TEST(contains(run.last<Notify>().text, "(failure 1 of 1 allowed) from checkpoint_000001: rank 1"));
}

BOOST_AUTO_TEST_CASE(a_rank_dies_during_the_commit_which_fails_and_the_run_resumes_from_the_one_before) {
  Rig run(spec_of(2, 1));
  to_second_commit(run);
  run.killed(1);
  run.group_ends();
  run.committed(Error{ErrorKind::unavailable, "disk full"});
  BOOST_TEST(run.restarts() == 1U);
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
  BOOST_TEST(run.count<AppendResult>() == 1U);
  BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000001");
  BOOST_TEST(run.place<DeleteCheckpoint>() < run.place<StartWorkers>(1));
}

BOOST_AUTO_TEST_CASE(the_commit_is_settled_before_the_last_process_is_gone_and_the_restart_waits_for_both) {
  for (const bool works : {true, false}) {
    Rig run(spec_of(2, 1));
    to_second_commit(run);
    run.killed(1);
    run.committed(works ? std::nullopt : std::optional(Error{ErrorKind::unavailable, "disk full"}));
    BOOST_TEST(run.restarts() == 0U);
    run.group_ends();
    BOOST_TEST(run.restarts() == 1U);
    BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == (works ? "checkpoint_000001" : "checkpoint_000000"));
    BOOST_TEST(run.count<DeleteCheckpoint>() == (works ? 0U : 1U));
  }
}

BOOST_AUTO_TEST_CASE(the_run_fails_for_good_during_a_commit_and_the_checkpoint_is_in_its_outcome) {
  Rig run(spec_of(2));
  to_second_commit(run);
  run.killed(0);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.count<Finish>() == 0U);
  run.committed();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(run.outcome().checkpoints.size() == 2U);
}

BOOST_AUTO_TEST_CASE(an_abort_during_a_commit_keeps_what_was_committed) {
  Rig run(spec_of(2));
  to_second_commit(run);
  run.send(AbortAsked{"Ctrl-C"});
  run.group_ends({true, 15, ""});
  BOOST_TEST(run.count<ReleaseNodes>() == 0U);
  run.committed();
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
  BOOST_TEST(run.outcome().checkpoints.size() == 2U);
}

BOOST_AUTO_TEST_CASE(an_abort_while_a_dead_groups_commit_is_awaited_ends_the_run_after_it) {
  Rig run(spec_of(2, 1));
  to_second_commit(run);
  run.killed(0);
  run.group_ends();
  run.send(AbortAsked{"Ctrl-C"});
  run.committed();
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
  BOOST_TEST(run.restarts() == 0U);
  BOOST_TEST(run.outcome().checkpoints.size() == 2U);
}

BOOST_AUTO_TEST_CASE(rank_1_dies_between_its_files_and_the_commit_of_all_and_nothing_of_them_counts) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.checkpoint();
  run.report(0, {}, files({"a"}));
  run.report(1, {}, files({"b"}));
  run.begun();
  run.uploaded(1);
  run.killed(1);
  run.uploaded(0);
  BOOST_TEST(run.count<CommitCheckpoint>() == 1U);
  run.group_ends();
  BOOST_TEST(run.last<DiscardCheckpoint>().name == "checkpoint_000001");
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
  BOOST_TEST(run.place<SweepStorage>(1) < run.place<StartWorkers>(1));
  BOOST_TEST(run.count<AppendResult>() == 1U);
}

BOOST_AUTO_TEST_CASE(rank_1_dies_between_its_files_and_its_report_and_the_report_never_was) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.checkpoint();
  run.report(0, {}, files({"a"}));
  run.killed(1);
  run.group_ends();
  BOOST_TEST(run.count<BeginCheckpoint>() == 1U);
  BOOST_TEST(run.count<DiscardCheckpoint>() == 0U);
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
}

BOOST_AUTO_TEST_CASE(the_directory_of_a_dead_attempt_is_ready_late_and_not_taken_for_the_next_attempts) {
  Rig run(spec_of(1, 1));
  run.to_running();
  run.report(0, {}, files({"model.pt"}));
  run.killed(0);
  run.group_ends();
  run.restart();
  run.report(0, {}, files({"model.pt"}));
  BOOST_TEST(run.last<BeginCheckpoint>().index == 0);
  BOOST_TEST(run.send(CheckpointBegun{1, 0, {}}).empty());
  BOOST_TEST(run.send(CheckpointBegun{1, 0, Error{ErrorKind::unavailable, "late"}}).empty());
  run.begun();
  run.uploaded(0);
  run.committed();
  BOOST_TEST(run.last<AppendResult>().line.checkpoint.value() == "checkpoint_000001");
}

BOOST_AUTO_TEST_CASE(the_second_attempt_dies_before_it_reports_and_the_third_resumes_from_the_first_ones_checkpoint) {
  Rig run(spec_of(2, 2));
  run.to_running();
  run.checkpoint();
  for (int failure = 0; failure < 2; ++failure) {
    run.killed(0);
    run.group_ends();
    BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
    run.restart();
  }
  BOOST_TEST(run.attempt() == 3);
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.outcome().attempts == 3);
}

BOOST_AUTO_TEST_CASE(a_rank_dies_before_the_first_checkpoint_and_the_restart_begins_where_the_user_had_begun) {
  RunSpec spec = spec_of(1, 1);
  spec.resume_from_checkpoint = "/elsewhere/best";
  Rig run(spec);
  run.to_running();
  run.report_all();
  run.killed(0);
  run.group_ends();
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "/elsewhere/best");
  BOOST_TEST(contains(run.last<Notify>().text, "from /elsewhere/best:"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
