#include "control/rig.hpp"

/// Checkpoints that num_to_keep gives up and that cannot be deleted at once.
namespace headway::control {

namespace {

const Error busy{ErrorKind::unavailable, "cannot remove checkpoint_000000/model.pt: device or resource busy"};

RunSpec keep_one() {
  RunSpec spec = spec_of(1);
  spec.checkpoint.num_to_keep = 1;
  return spec;
}

Json to_delete(const Rig& run) { return to_json(run.last<WriteJournal>().snapshot.to_delete); }

std::size_t deletions_of(const Rig& run, std::string_view name) {
  const auto all = run.all<DeleteCheckpoint>();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const DeleteCheckpoint& each) { return each.name == name; }));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(deletion_suite)

BOOST_AUTO_TEST_CASE(a_failed_deletion_warns_once_and_is_tried_again_at_the_next_commit) {
  Rig run(keep_one());
  run.to_running();
  run.checkpoint();
  run.checkpoint();
  run.deleted(busy);
  BOOST_REQUIRE(run.of_latest<Warn>().size() == 1U);
  BOOST_TEST(contains(run.last<Warn>().text, "checkpoint_000000 could not be deleted"));
  BOOST_TEST(contains(run.last<Warn>().text, busy.message));
  BOOST_TEST(deletions_of(run, "checkpoint_000000") == 1U);
  run.checkpoint();
  BOOST_TEST(deletions_of(run, "checkpoint_000000") == 2U);
  BOOST_TEST(deletions_of(run, "checkpoint_000001") == 1U);
  run.deleted(busy);
  BOOST_TEST(run.of_latest<Warn>().empty());
  run.deleted();
  BOOST_TEST((run.state() == RunState::running));
}

BOOST_AUTO_TEST_CASE(what_is_being_deleted_is_not_ordered_twice) {
  Rig run(keep_one());
  run.to_running();
  run.checkpoint();
  run.checkpoint();
  run.checkpoint();
  BOOST_TEST(deletions_of(run, "checkpoint_000000") == 1U);
}

BOOST_AUTO_TEST_CASE(the_last_try_is_at_the_end_and_the_last_journal_says_what_is_still_there) {
  Rig run(keep_one());
  run.to_running();
  run.checkpoint();
  run.checkpoint();
  run.deleted(busy);
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  BOOST_TEST((run.state() == RunState::closing));
  BOOST_TEST(deletions_of(run, "checkpoint_000000") == 2U);
  run.journals();
  // The journal of the run's end waits for the deletion.
  BOOST_TEST((run.state() == RunState::closing));
  run.deleted(busy);
  BOOST_TEST(contains(run.last<Warn>().text, "checkpoint_000000 is still there"));
  BOOST_TEST(to_delete(run) == (JsonArray{"checkpoint_000000"}));
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_REQUIRE(run.outcome().checkpoints.size() == 1U);
  BOOST_TEST(run.outcome().checkpoints[0].name == "checkpoint_000001");
}

BOOST_AUTO_TEST_CASE(a_try_that_succeeds_at_the_end_is_in_the_last_journal) {
  Rig run(keep_one());
  run.to_running();
  run.checkpoint();
  run.checkpoint();
  run.deleted(busy);
  run.finish_all();
  BOOST_TEST(to_delete(run) == JsonArray{});
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(what_somebody_else_has_deleted_is_deleted) {
  Rig run(keep_one());
  run.to_running();
  run.checkpoint();
  run.checkpoint();
  run.deleted(Error{ErrorKind::not_found, "checkpoint_000000 holds no checkpoint"});
  BOOST_TEST(run.count<Warn>() == 0U);
  run.finish_all();
  BOOST_TEST(deletions_of(run, "checkpoint_000000") == 1U);
}

BOOST_AUTO_TEST_CASE(an_abort_tries_once_more_too) {
  Rig run(keep_one());
  run.to_running();
  run.checkpoint();
  run.checkpoint();
  run.deleted(busy);
  run.send(AbortAsked{"Ctrl-C"});
  run.group_ends();
  BOOST_TEST(deletions_of(run, "checkpoint_000000") == 2U);
  run.deleted();
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
