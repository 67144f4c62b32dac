#include "driver/folder_sync.hpp"

#include "storage/scratch.hpp"

namespace headway::driver {

namespace fs = storage::fs;

namespace {

/// A run's local side and the place that it is brought to, which is a directory here.
struct Sides : storage::Scratch {
  Sides() : sync(path("local"), path("there")) { fs::create_directory(path("local")); }
  void write_local(const std::string& name, const std::string& content) const { write("local/" + name, content); }
  std::string there(const std::string& name) const { return storage::read(path("there/" + name)); }

  FolderSync sync;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(folder_sync_suite, Sides)

BOOST_AUTO_TEST_CASE(new_and_changed_files_are_brought_with_their_directories) {
  write_local("result.json", "one\n");
  write_local("logs/rank_0.log", "hello\n");
  storage::must(sync.bring(true));
  BOOST_TEST(there("result.json") == "one\n");
  BOOST_TEST(there("logs/rank_0.log") == "hello\n");
  write_local("result.json", "one\ntwo\n");
  storage::must(sync.bring(true));
  BOOST_TEST(there("result.json") == "one\ntwo\n");
}

BOOST_AUTO_TEST_CASE(what_has_not_changed_is_not_brought_again) {
  write_local("result.json", "one\n");
  storage::must(sync.bring(true));
  fs::remove(path("there/result.json"));
  storage::must(sync.bring(true));
  BOOST_TEST(!fs::exists(path("there/result.json")));
}

BOOST_AUTO_TEST_CASE(the_journal_and_files_in_the_making_are_left_out) {
  write_local("run.json", "{}");
  write_local(".headway.part.params.json", "{");
  write_local("params.json", "{}");
  storage::must(sync.bring(true));
  BOOST_TEST(fs::exists(path("there/params.json")));
  BOOST_TEST(!fs::exists(path("there/run.json")));
  BOOST_TEST(!fs::exists(path("there/.headway.part.params.json")));
}

BOOST_AUTO_TEST_CASE(what_vanishes_here_stays_there) {
  write_local("artifact", "kept");
  storage::must(sync.bring(true));
  fs::remove(path("local/artifact"));
  storage::must(sync.bring(true));
  BOOST_TEST(there("artifact") == "kept");
}

BOOST_AUTO_TEST_CASE(a_failure_is_told_and_tried_again) {
  write_local("logs/rank_0.log", "hello\n");
  write("there/logs", "a file where a directory should be");
  BOOST_TEST(storage::contains(storage::error_of(sync.bring(true)).message, "there/logs"));
  fs::remove(path("there/logs"));
  storage::must(sync.bring(true));
  BOOST_TEST(there("logs/rank_0.log") == "hello\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
