#include "storage/scratch.hpp"

#include <limits>

namespace headway::storage {

BOOST_FIXTURE_TEST_SUITE(commit_suite, Scratch)

BOOST_AUTO_TEST_CASE(the_manifest_says_what_was_committed_even_a_loss_that_is_not_a_number) {
  write("source/model.pt", "weights");
  const std::string directory = run + "/checkpoint_000007";
  must(begin_checkpoint(directory));
  Manifest manifest =
      manifest_of("checkpoint_000007", 7, must(upload(path("source"), directory, {"model.pt"}, 3, Transfer::copy)));
  manifest.attempt = 2;
  manifest.world_size = 4;
  manifest.metrics = {{"loss", std::numeric_limits<double>::quiet_NaN()}, {"eval", {{"accuracy", 0.5}}}};
  must(commit(directory, manifest));
  const Manifest found = must(read_manifest(directory));
  BOOST_TEST(found.index == 7);
  BOOST_TEST(found.attempt == 2);
  BOOST_TEST(found.world_size == 4);
  BOOST_TEST(found.files[0].rank == 3);
  BOOST_TEST(found.files[0].checksum == manifest.files[0].checksum);
  BOOST_TEST(std::isnan(found.metrics.at("loss").as_double()));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_begun_twice_starts_anew_and_keeps_nothing_of_the_first_attempt) {
  write("first/old.pt", "old");
  write("second/new.pt", "new");
  must(begin_checkpoint(run + "/c"));
  must(upload(path("first"), run + "/c", {"old.pt"}, 0, Transfer::copy));
  const std::string directory = save(*this, "c", 0, path("second"));
  BOOST_TEST((names_of(must(list_files(directory))) == Names{"new.pt"}));
}

BOOST_AUTO_TEST_CASE(beginning_over_a_committed_checkpoint_or_over_the_users_files_changes_nothing) {
  write("source/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"));
  BOOST_TEST((error_of(begin_checkpoint(directory)).kind == ErrorKind::already_exists));
  must(verify(directory));

  write("run/users/own.pt", "mine");
  fs::create_directory(run + "/empty");
  fs::create_directory_symlink(directory, run + "/link");
  write("run/file", "a file");
  for (const char* name : {"/users", "/empty", "/link", "/file"}) {
    const Error error = error_of(begin_checkpoint(run + name));
    BOOST_TEST((error.kind == ErrorKind::already_exists));
    BOOST_TEST(contains(error.message, run + name + " is there already"));
  }
  BOOST_TEST(read(run + "/users/own.pt") == "mine");
}

BOOST_AUTO_TEST_CASE(committing_twice_or_without_having_begun_is_refused) {
  write("source/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"));
  BOOST_TEST((error_of(commit(directory, manifest_of("c", 1, {}))).kind == ErrorKind::already_exists));
  BOOST_TEST(must(read_manifest(directory)).index == 0);
  write("run/users/own.pt", "mine");
  BOOST_TEST((error_of(commit(run + "/users", manifest_of("users", 1, {}))).kind == ErrorKind::invalid_argument));
}

BOOST_AUTO_TEST_CASE(a_run_directory_that_is_not_there_is_named) {
  BOOST_TEST(contains(error_of(begin_checkpoint(root + "/nowhere/c")).message, root + "/nowhere"));
}

BOOST_AUTO_TEST_CASE(a_removed_checkpoint_leaves_nothing_behind_and_the_users_directory_is_not_removed) {
  write("source/deep/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"));
  must(remove_checkpoint(directory));
  BOOST_TEST(fs::is_empty(run));
  write("run/users/own.pt", "mine");
  BOOST_TEST((error_of(remove_checkpoint(run + "/users")).kind == ErrorKind::not_found));
  BOOST_TEST(read(run + "/users/own.pt") == "mine");
}

BOOST_AUTO_TEST_CASE(a_removal_that_failed_after_the_checkpoint_was_renamed_away_is_gone_on_with) {
  write("source/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"));
  fs::rename(directory, run + "/.headway.part.removed.c");
  must(remove_checkpoint(directory));
  BOOST_TEST(fs::is_empty(run));
  BOOST_TEST((error_of(remove_checkpoint(directory)).kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_CASE(removing_a_checkpoint_with_a_link_in_it_leaves_what_the_link_points_to) {
  write("elsewhere/precious", "p");
  write("source/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"));
  fs::create_directory_symlink(path("elsewhere"), directory + "/link");
  must(remove_checkpoint(directory));
  BOOST_TEST(read(path("elsewhere/precious")) == "p");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
