#include "storage/checkpoint/artifact_copier.hpp"
#include "storage/scratch.hpp"

#include <sys/stat.h>

namespace headway::storage {

namespace {

struct Artifacts : Scratch {
  std::string target(std::string_view name) const { return run + "/artifacts/" + std::string(name); }
  void copy() { must(copier.copy({})); }

  /// So that a copy that should not be made would be seen.
  void mark(std::string_view name) const { std::ofstream(target(name)) << "copied before"; }

  ArtifactCopier copier{path("work"), run + "/artifacts"};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(artifact_copier_suite, Artifacts)

BOOST_AUTO_TEST_CASE(files_come_with_their_folders_permissions_and_times) {
  write("work/a.txt", "a");
  write("work/deep/er/b.sh", "b");
  fs::permissions(path("work/deep/er/b.sh"), fs::perms(0750));
  copy();
  BOOST_TEST(read(target("a.txt")) == "a");
  BOOST_TEST(read(target("deep/er/b.sh")) == "b");
  BOOST_TEST((fs::status(target("deep/er/b.sh")).permissions() == fs::perms(0750)));
  BOOST_TEST((fs::last_write_time(target("a.txt")) == fs::last_write_time(path("work/a.txt"))));
  // Nothing of ours stays.
  BOOST_TEST(std::distance(fs::directory_iterator(run + "/artifacts"), {}) == 2);
}

BOOST_AUTO_TEST_CASE(only_what_is_new_or_has_changed_comes_again_and_nothing_is_deleted) {
  write("work/same", "same");
  write("work/grows", "1");
  write("work/goes", "x");
  copy();
  mark("same");
  write("work/grows", "12");
  write("work/new", "n");
  fs::remove(path("work/goes"));
  copy();
  BOOST_TEST(read(target("same")) == "copied before");
  BOOST_TEST(read(target("grows")) == "12");
  BOOST_TEST(read(target("new")) == "n");
  BOOST_TEST(read(target("goes")) == "x");
}

BOOST_AUTO_TEST_CASE(a_file_of_the_same_size_and_another_time_comes_again) {
  write("work/a", "old");
  copy();
  write("work/a", "new");
  fs::last_write_time(path("work/a"), fs::file_time_type::clock::now() + std::chrono::seconds(5));
  copy();
  BOOST_TEST(read(target("a")) == "new");
}

BOOST_AUTO_TEST_CASE(links_to_files_are_files_and_what_is_no_file_is_left_out) {
  write("work/real", "content");
  write("elsewhere/secret", "s");
  fs::create_symlink("real", path("work/link"));
  fs::create_symlink("nowhere", path("work/broken"));
  fs::create_directory_symlink(path("elsewhere"), path("work/folder_link"));
  fs::create_directory_symlink(path("work"), path("work/loop"));
  fs::create_directory(path("work/empty"));
  BOOST_REQUIRE(::mkfifo(path("work/pipe").c_str(), 0600) == 0);
  copy();
  BOOST_TEST(read(target("link")) == "content");
  BOOST_TEST(!fs::is_symlink(target("link")));
  BOOST_TEST(std::distance(fs::recursive_directory_iterator(run + "/artifacts"), {}) == 2);
}

BOOST_AUTO_TEST_CASE(a_file_that_can_not_be_copied_is_told_and_the_others_are_copied) {
  write("work/a", "a");
  write("work/b", "b");
  fs::create_directories(target("a/in the way"));
  const Error error = error_of(copier.copy({}));
  BOOST_TEST(contains(error.message, target("a")));
  BOOST_TEST(read(target("b")) == "b");
  fs::remove_all(target("a"));
  mark("b");
  copy();
  BOOST_TEST(read(target("a")) == "a");
  BOOST_TEST(read(target("b")) == "copied before");
}

BOOST_AUTO_TEST_CASE(a_copy_that_is_stopped_says_so_and_the_next_one_brings_the_rest) {
  write("work/a", "a");
  std::stop_source stop;
  stop.request_stop();
  BOOST_TEST((error_of(copier.copy(stop.get_token())).kind == ErrorKind::aborted));
  BOOST_TEST(!fs::exists(target("a")));
  copy();
  BOOST_TEST(read(target("a")) == "a");
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_not_there_has_nothing_to_bring) {
  copy();
  BOOST_TEST(fs::is_empty(run));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
