#include "control/rig.hpp"

namespace headway::control {

namespace {

RunSpec remote_spec() {
  RunSpec spec = spec_of(1);
  spec.run.storage_path = "s3://key:secret@bucket/runs";
  return spec;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sync_suite)

BOOST_AUTO_TEST_CASE(a_remote_run_s_files_are_brought_every_thirty_seconds) {
  Rig rig(remote_spec());
  rig.to_running();
  rig.advance(29s);
  BOOST_TEST(rig.count<SyncFolder>() == 0u);
  rig.advance(1s);
  BOOST_TEST(rig.count<SyncFolder>() == 1u);
  rig.send(FolderSynced{});
  rig.advance(30s);
  BOOST_TEST(rig.count<SyncFolder>() == 2u);
}

BOOST_AUTO_TEST_CASE(a_commit_brings_them_too) {
  Rig rig(remote_spec());
  rig.to_running();
  rig.checkpoint();
  BOOST_TEST(rig.of_latest<SyncFolder>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_two_are_under_way_at_once) {
  Rig rig(remote_spec());
  rig.to_running();
  rig.checkpoint();
  rig.advance(30s);
  BOOST_TEST(rig.count<SyncFolder>() == 1u);
  rig.send(FolderSynced{});
  rig.advance(30s);
  BOOST_TEST(rig.count<SyncFolder>() == 2u);
}

BOOST_AUTO_TEST_CASE(a_failure_is_told_once_until_it_goes_well_again) {
  Rig rig(remote_spec());
  rig.to_running();
  const auto warnings = [&](std::optional<Error> error) {
    rig.checkpoint();
    rig.send(FolderSynced{std::move(error)});
    return rig.of_latest<Warn>().size();
  };
  const Error down{ErrorKind::unavailable, "the network is down"};
  BOOST_TEST(warnings(down) == 1u);
  BOOST_TEST(warnings(down) == 0u);
  BOOST_TEST(warnings(std::nullopt) == 0u);
  BOOST_TEST(warnings(down) == 1u);
}

BOOST_AUTO_TEST_CASE(a_local_run_needs_none) {
  Rig rig(spec_of(1));
  rig.to_running();
  rig.checkpoint();
  BOOST_TEST(rig.of_latest<SyncFolder>().size() == 0u);
  rig.advance(100s);
  BOOST_TEST(rig.count<SyncFolder>() == 0u);
}

BOOST_AUTO_TEST_CASE(the_journal_does_not_hold_what_the_storage_is_reached_with) {
  Rig rig(remote_spec());
  rig.to_running();
  BOOST_TEST(to_json_text(rig.last<WriteJournal>().snapshot.spec).find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
