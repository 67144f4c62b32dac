#include "control/rig.hpp"

/// Checkpoints that users store themselves: with NO_UPLOAD, or by a function.
namespace headway::control {
namespace {

CheckpointOffer placed(const std::string& name) {
  CheckpointOffer offer;
  offer.source = CheckpointSource::placed;
  offer.directory_name = name;
  return offer;
}

CheckpointOffer by_function() {
  CheckpointOffer offer;
  offer.source = CheckpointSource::function;
  return offer;
}

struct Pair : Rig {
  Pair() : Rig(spec_of(2)) { to_running(); }
  void stored(int rank, const std::string& name) { send(RankUploaded{attempt(), rank, 0, {}, {}, name}); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_by_user_suite)

BOOST_AUTO_TEST_CASE(a_placed_directory_is_recorded_without_being_begun_or_uploaded) {
  Pair run;
  run.report_all({{"loss", 1}}, placed("mine"));
  BOOST_TEST(run.count<BeginCheckpoint>() == 0U);
  BOOST_TEST(run.count<UploadFiles>() == 0U);
  BOOST_REQUIRE(run.count<CommitCheckpoint>() == 1U);
  BOOST_TEST((run.last<CommitCheckpoint>().source == CheckpointSource::placed));
  BOOST_TEST(run.last<CommitCheckpoint>().manifest.checkpoint == "mine");
  BOOST_TEST(run.count<AnswerReport>() == 0U);
  run.committed();
  BOOST_TEST(run.last<AnswerReport>().checkpoint.value() == "mine");
  BOOST_TEST(run.controller.book().newest().value() == "mine");
}

BOOST_AUTO_TEST_CASE(what_some_ranks_upload_goes_to_the_directory_that_others_report_where_it_lies) {
  Rig run(spec_of(3));
  run.to_running();
  run.report(0, {}, files({"a.pt"}));
  run.report(1, {}, placed("mine"));
  CheckpointOffer named = files({"b.pt", "a.pt"});
  named.directory_name = "mine";
  run.report(2, {}, named);
  BOOST_TEST(run.count<BeginCheckpoint>() == 0U);
  const auto orders = run.of_latest<UploadFiles>();
  BOOST_REQUIRE(orders.size() == 2U);
  for (const UploadFiles& order : orders) BOOST_TEST((order.name == "mine" && order.beside && order.files.size() == 1));
  run.uploaded(0);
  BOOST_TEST(run.count<CommitCheckpoint>() == 0U);
  run.uploaded(2);
  BOOST_TEST((run.last<CommitCheckpoint>().source == CheckpointSource::placed));
  BOOST_TEST(run.last<CommitCheckpoint>().manifest.files.size() == 2U);
  run.committed();
  BOOST_TEST(run.last<AnswerReport>().checkpoint.value() == "mine");
}

BOOST_AUTO_TEST_CASE(an_upload_of_another_name_than_the_placed_directory_s_is_refused) {
  Pair run;
  CheckpointOffer named = files({"a.pt"});
  named.directory_name = "other";
  run.report(0, {}, named);
  run.report(1, {}, placed("mine"));
  BOOST_TEST(
      contains(run.last<AnswerReport>().error.value(), "ranks 0 and 1 give one checkpoint two names, other and mine"));
  BOOST_TEST(run.count<UploadFiles>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_placed_directory_that_is_reported_again_is_kept_once_and_is_the_newest) {
  Pair run;
  for (const char* name : {"latest", "other", "latest"}) {
    run.report_all({}, placed(name));
    run.committed();
  }
  BOOST_REQUIRE(run.controller.book().kept().size() == 2U);
  BOOST_TEST(run.controller.book().newest().value() == "latest");
}

BOOST_AUTO_TEST_CASE(a_placed_directory_that_cannot_be_recorded_is_refused_and_never_removed) {
  Pair run;
  run.report_all({}, placed("mine"));
  run.committed(Error{ErrorKind::unavailable, "no space left"});
  BOOST_TEST(contains(run.last<AnswerReport>().error.value(), "no space left"));
  BOOST_TEST(run.count<DiscardCheckpoint>() == 0U);
}

BOOST_AUTO_TEST_CASE(ranks_that_disagree_about_the_mode_or_the_directory_are_refused_with_both_named) {
  Pair modes;
  modes.report(0, {}, by_function());
  modes.report(1, {}, placed("mine"));
  BOOST_TEST(
      contains(modes.last<AnswerReport>().error.value(),
               "ranks 0 and 1 cannot make one checkpoint: one has a function that stores it, the other a directory "
               "that is recorded where it lies"));
  BOOST_TEST(modes.count<BeginCheckpoint>() == 0U);
  Pair names;
  names.report(0, {}, placed("a"));
  names.report(1, {}, placed("b"));
  BOOST_TEST(contains(names.last<AnswerReport>().error.value(),
                      "ranks 0 and 1 report different directories that are to be recorded where they lie: a and b"));
  BOOST_TEST(names.count<CommitCheckpoint>() == 0U);
}

BOOST_AUTO_TEST_CASE(each_rank_s_function_is_told_the_name_and_the_commit_waits_for_all_of_them) {
  Pair run;
  run.report(0, {}, by_function());
  run.report(1, {}, by_function());
  const auto orders = run.all<UploadFiles>();
  BOOST_REQUIRE(orders.size() == 2U);
  BOOST_TEST(orders[0].name == "checkpoint_000000");
  BOOST_TEST(orders[1].name == "checkpoint_000000");
  run.stored(1, "elsewhere");
  BOOST_TEST(run.count<CommitCheckpoint>() == 0U);
  run.stored(0, "elsewhere");
  BOOST_TEST(run.last<CommitCheckpoint>().manifest.checkpoint == "elsewhere");
  BOOST_TEST((run.last<CommitCheckpoint>().source == CheckpointSource::function));
  run.committed();
  BOOST_TEST(run.controller.book().newest().value() == "elsewhere");
}

BOOST_AUTO_TEST_CASE(functions_that_store_one_checkpoint_in_two_places_or_fail_are_refused) {
  Pair places;
  places.report(0, {}, by_function());
  places.report(1, {}, by_function());
  places.stored(0, "a");
  places.stored(1, "b");
  BOOST_TEST(contains(places.last<AnswerReport>().error.value(), "into two directories, a and b"));
  Pair failing;
  failing.report(0, {}, by_function());
  failing.report(1);
  failing.send(RankUploaded{failing.attempt(), 0, 0, {}, "the function that stores it: ValueError: no", {}});
  BOOST_TEST(contains(failing.last<AnswerReport>().error.value(), "rank 0 could not store its part of the checkpoint"));
  BOOST_TEST(failing.count<DiscardCheckpoint>() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
