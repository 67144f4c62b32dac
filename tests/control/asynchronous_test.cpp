#include "control/rig.hpp"

namespace headway::control {
namespace {

CheckpointOffer asynchronous(const std::vector<std::string>& names) {
  CheckpointOffer offer = files(names);
  offer.asynchronous = true;
  return offer;
}

/// One rank, so that each report is complete at once.
struct Lone : Rig {
  explicit Lone(int max_failures = 0) : Rig(spec_of(1, max_failures)) { to_running(); }
  void report(std::int64_t index, std::optional<CheckpointOffer> offer = {}) {
    send(RankReported{attempt(), 0, index, {{"index", index}}, std::move(offer)});
  }
  void begun(std::int64_t index, std::optional<Error> error = {}) {
    send(CheckpointBegun{attempt(), index, std::move(error)});
  }
  void uploaded(std::int64_t index, std::optional<std::string> error = {}) {
    send(RankUploaded{attempt(), 0, index, {}, std::move(error)});
  }
  void committed(std::int64_t index, std::optional<Error> error = {}) {
    send(CheckpointCommitted{index, std::move(error)});
  }
};

const Error disk_full{ErrorKind::unavailable, "no space left on device"};

}  // namespace

BOOST_AUTO_TEST_SUITE(asynchronous_suite)

BOOST_AUTO_TEST_CASE(training_goes_on_once_the_directory_is_there_and_the_report_is_recorded_at_its_commit) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  run.begun(0);
  BOOST_TEST(run.count<AnswerReport>() == 1U);
  BOOST_TEST(!run.last<AnswerReport>().checkpoint.has_value());
  BOOST_TEST(run.count<UploadFiles>() == 1U);
  BOOST_TEST(run.place<UploadFiles>() < run.place<AnswerReport>());
  run.uploaded(0);
  BOOST_TEST(run.count<AppendResult>() == 0U);
  run.committed(0);
  BOOST_TEST(run.last<AppendResult>().line.checkpoint.value() == "checkpoint_000000");
  BOOST_TEST(run.last<AnnounceCheckpoint>().name == "checkpoint_000000");
  BOOST_TEST(run.count<AnswerReport>() == 1U);
}

BOOST_AUTO_TEST_CASE(the_second_is_stored_first_and_still_committed_and_recorded_second) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.report(1, asynchronous({"model"}));
  run.begun(1);
  run.uploaded(1);
  BOOST_TEST(run.count<CommitCheckpoint>() == 0U);
  run.uploaded(0);
  BOOST_TEST(run.last<CommitCheckpoint>().index == 0);
  run.committed(0);
  BOOST_TEST(run.last<CommitCheckpoint>().index == 1);
  run.committed(1);
  const auto lines = run.all<AppendResult>();
  BOOST_TEST(lines.at(0).line.index == 0);
  BOOST_TEST(lines.at(1).line.index == 1);
}

BOOST_AUTO_TEST_CASE(metrics_behind_a_checkpoint_under_way_are_answered_at_once_and_recorded_in_their_turn) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.report(1);
  BOOST_TEST(run.count<AnswerReport>() == 2U);
  BOOST_TEST(run.count<AppendResult>() == 0U);
  run.uploaded(0);
  run.committed(0);
  BOOST_TEST(run.count<AppendResult>() == 2U);
}

BOOST_AUTO_TEST_CASE(with_two_under_way_the_third_report_waits_until_one_is_stored) {
  Lone run;
  for (std::int64_t index : {0, 1, 2}) {
    run.report(index, asynchronous({"model"}));
    run.begun(index);
  }
  BOOST_TEST(run.count<AnswerReport>() == 2U);
  run.uploaded(0);
  run.committed(0);
  BOOST_TEST(run.count<AnswerReport>() == 3U);
}

BOOST_AUTO_TEST_CASE(a_synchronous_checkpoint_waits_for_those_before_it_and_for_its_own_commit) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.report(1, files({"model"}));
  run.begun(1);
  run.uploaded(1);
  BOOST_TEST(run.count<AnswerReport>() == 1U);
  run.uploaded(0);
  run.committed(0);
  run.committed(1);
  BOOST_TEST(run.last<AnswerReport>().checkpoint.value() == "checkpoint_000001");
}

BOOST_AUTO_TEST_CASE(a_failed_upload_is_told_by_the_next_report_once_and_the_one_after_it_works) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.uploaded(0, "no space left on device");
  BOOST_TEST(run.count<DiscardCheckpoint>() == 1U);
  BOOST_TEST(contains(run.last<Warn>().text, "no space left on device"));
  run.report(1);
  BOOST_TEST(contains(run.last<AnswerReport>().error.value(), "checkpoint_000000 of report #1"));
  run.report(2);
  BOOST_TEST(!run.last<AnswerReport>().error.has_value());
  const auto lines = run.all<AppendResult>();
  BOOST_REQUIRE(lines.size() == 1U);
  BOOST_TEST(lines.front().line.index == 2);
}

BOOST_AUTO_TEST_CASE(a_failed_commit_that_no_report_follows_fails_the_run) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.uploaded(0);
  run.returns(0);
  BOOST_TEST(run.count<RunTeardown>() == 0U);
  run.committed(0, disk_full);
  run.deleted();
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(contains(run.failure(), "no space left on device"));
}

BOOST_AUTO_TEST_CASE(the_directory_cannot_be_made_and_the_report_itself_fails) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0, disk_full);
  BOOST_TEST(contains(run.last<AnswerReport>().error.value(), "no space left on device"));
  BOOST_TEST(run.count<AnswerReport>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_being_stored_is_refused_and_what_is_under_way_stays) {
  Lone run;
  CheckpointOffer named = asynchronous({"model"});
  named.directory_name = "best";
  run.report(0, named);
  run.begun(0);
  run.report(1, named);
  BOOST_TEST(run.count<BeginCheckpoint>() == 1U);
  run.uploaded(0);
  run.committed(0);
  BOOST_TEST(run.count<CommitCheckpoint>() == 1U);
  BOOST_TEST(contains(run.last<AnswerReport>().error.value(), "being stored already"));
}

BOOST_AUTO_TEST_CASE(all_ranks_return_while_a_checkpoint_is_under_way_and_the_run_ends_after_its_commit) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.returns(0);
  BOOST_TEST(run.count<RunTeardown>() == 0U);
  run.uploaded(0);
  run.committed(0);
  BOOST_TEST(run.count<RunTeardown>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_returned_dies_while_it_stores_and_the_run_does_not_hang) {
  Lone run;
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.returns(0);
  run.killed(0);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(contains(run.failure(), "ended before it had stored its part"));
}

BOOST_AUTO_TEST_CASE(the_group_dies_with_one_stored_and_one_not_and_the_stored_one_is_resumed_from) {
  Lone run(1);
  run.report(0, asynchronous({"model"}));
  run.begun(0);
  run.report(1, asynchronous({"model"}));
  run.begun(1);
  run.uploaded(0);
  run.killed(0);
  run.group_ends();
  BOOST_TEST(run.count<StartWorkers>() == 1U);
  run.committed(0);
  BOOST_TEST(run.last<DiscardCheckpoint>().name == "checkpoint_000001");
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
