#include "control/upkeep.hpp"

#include "control/pieces.hpp"

/// What is brought to storage beside the training, without a controller.
namespace headway::control {
namespace {

SyncConfig copying() {
  SyncConfig config;
  config.sync_artifacts = true;
  config.sync_artifacts_on_checkpoint = true;
  config.sync_period = 60;
  config.sync_timeout = 20;
  return config;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(upkeep_suite)

BOOST_AUTO_TEST_CASE(small_files_go_to_remote_storage_once_at_a_time) {
  Outbox out;
  Upkeep upkeep(SyncConfig{}, true);
  upkeep.sync_folder(out);
  upkeep.sync_folder(out);
  BOOST_TEST(taken<SyncFolder>(out).size() == 1U);
  upkeep.folder_synced({}, out);
  upkeep.sync_folder(out);
  BOOST_TEST(taken<SyncFolder>(out).size() == 1U);
}

BOOST_AUTO_TEST_CASE(local_storage_needs_no_syncs) {
  Outbox out;
  Upkeep upkeep(SyncConfig{}, false);
  upkeep.begin_folder_syncs(out);
  upkeep.sync_folder(out);
  BOOST_TEST(out.take().empty());
}

BOOST_AUTO_TEST_CASE(a_failed_sync_is_told_until_one_succeeds) {
  Outbox out;
  Upkeep upkeep(SyncConfig{}, true);
  const Error error{ErrorKind::unavailable, "no answer"};
  for (const std::size_t warnings : {1U, 0U}) {
    upkeep.sync_folder(out);
    out.take();
    upkeep.folder_synced(error, out);
    BOOST_TEST(taken<Warn>(out).size() == warnings);
  }
  upkeep.folder_synced({}, out);
  upkeep.folder_synced(error, out);
  BOOST_TEST(taken<Warn>(out).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_copy_that_takes_too_long_is_stopped) {
  Outbox out;
  Upkeep upkeep(copying(), false);
  upkeep.copy_after_checkpoint(out);
  BOOST_TEST(upkeep.copying());
  const Commands commands = out.take();
  BOOST_REQUIRE(commands.size() == 2U);
  BOOST_TEST((out.fired(std::get<SetTimer>(commands[1]).timer) == Timer{TimerPurpose::artifacts_limit}));
  BOOST_TEST(upkeep.stop_slow_copy(out));
  BOOST_TEST(taken<StopSync>(out).size() == 1U);
  BOOST_TEST(!upkeep.copying());
  BOOST_TEST(!upkeep.stop_slow_copy(out));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_during_a_copy_asks_for_another_one) {
  Outbox out;
  Upkeep upkeep(copying(), false);
  upkeep.copy_after_checkpoint(out);
  upkeep.copy_after_checkpoint(out);
  BOOST_TEST(taken<SyncArtifacts>(out).size() == 1U);
  upkeep.copied({0, {}}, out);
  BOOST_TEST(taken<SyncArtifacts>(out).size() == 1U);
  upkeep.copied({1, {}}, out);
  BOOST_TEST(upkeep.all_copied());
}

BOOST_AUTO_TEST_CASE(the_end_copies_a_last_time_and_an_abort_waits_less_for_it) {
  for (const bool aborted : {false, true}) {
    Outbox out;
    out.begin(Time{100s});
    Upkeep upkeep(copying(), false);
    upkeep.close(true, aborted, out);
    const Commands commands = out.take();
    BOOST_REQUIRE(commands.size() == 2U);
    BOOST_TEST(std::holds_alternative<SyncArtifacts>(commands[0]));
    BOOST_TEST((std::get<SetTimer>(commands[1]).at == (aborted ? Time{105s} : Time{120s})));
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_brought_to_a_folder_that_is_lost) {
  Outbox out;
  Upkeep upkeep(copying(), true);
  upkeep.copy_after_checkpoint(out);
  upkeep.lose_folder();
  out.take();
  upkeep.sync_folder(out);
  upkeep.close(true, false, out);
  const Commands commands = out.take();
  BOOST_REQUIRE(commands.size() == 1U);
  BOOST_TEST(std::holds_alternative<StopSync>(commands[0]));
  BOOST_TEST(!upkeep.all_copied());
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_journals_that_are_being_written) {
  Upkeep upkeep(SyncConfig{}, false);
  upkeep.journal_ordered();
  upkeep.journal_ordered();
  upkeep.journal_written();
  BOOST_TEST(upkeep.writing_journal());
  upkeep.journal_written();
  BOOST_TEST(!upkeep.writing_journal());
  BOOST_TEST(!upkeep.last_journal_ordered());
  upkeep.order_last_journal();
  BOOST_TEST(upkeep.last_journal_ordered());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
