#include "storage/scratch.hpp"

namespace headway::storage {

BOOST_FIXTURE_TEST_SUITE(sweep_suite, Scratch)

BOOST_AUTO_TEST_CASE(only_what_we_began_and_never_committed_is_swept) {
  write("source/model.pt", "weights");
  const std::string committed = save(*this, "checkpoint_000000", 0, path("source"));
  must(begin_checkpoint(run + "/checkpoint_000001"));
  must(upload(path("source"), run + "/checkpoint_000001", {"model.pt"}, 0, Transfer::copy));
  write("run/bare/own.pt", "a directory to resume from");
  fs::create_directory(run + "/empty");
  write("run/run.json", "{}");

  BOOST_TEST((must(sweep(run)) == Names{"checkpoint_000001"}));
  BOOST_TEST((names_of(must(list_checkpoints(run))) == Names{"checkpoint_000000"}));
  must(verify(committed));
  BOOST_TEST(read(run + "/bare/own.pt") == "a directory to resume from");
  BOOST_TEST(fs::exists(run + "/empty"));
  BOOST_TEST(read(run + "/run.json") == "{}");
  BOOST_TEST(must(sweep(run)).empty());
}

BOOST_AUTO_TEST_CASE(a_committed_checkpoint_whose_marker_came_back_after_a_loss_of_power_stays) {
  write("source/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"));
  write("run/c/.headway.begun", "");
  BOOST_TEST(must(sweep(run)).empty());
  must(verify(directory));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_with_a_damaged_manifest_is_not_swept) {
  write("run/c/.headway.json", "{\"version\":1,");
  write("run/c/.headway.begun", "");
  BOOST_TEST(must(sweep(run)).empty());
  BOOST_TEST(fs::exists(run + "/c/.headway.json"));
}

BOOST_AUTO_TEST_CASE(a_link_in_the_run_to_a_begun_directory_elsewhere_is_neither_swept_nor_listed) {
  write("other/begun/.headway.begun", "");
  write("other/begun/model.pt", "another run's");
  write("source/model.pt", "weights");
  const std::string committed = save(*this, "c", 0, path("source"));
  fs::rename(committed, path("other/c"));
  fs::create_directory_symlink(path("other/begun"), run + "/begun");
  fs::create_directory_symlink(path("other/c"), run + "/c");
  fs::create_directory_symlink(path("other"), run + "/.headway.part.link");

  BOOST_TEST((must(sweep(run)) == Names{".headway.part.link"}));
  BOOST_TEST(must(list_checkpoints(run)).empty());
  BOOST_TEST(read(path("other/begun/model.pt")) == "another run's");
  BOOST_TEST(read(path("other/c/model.pt")) == "weights");
}

BOOST_AUTO_TEST_CASE(a_run_that_is_not_there_can_not_be_swept_and_says_so) {
  const Error error = error_of(sweep(root + "/nowhere"));
  BOOST_TEST((error.kind == ErrorKind::not_found));
  BOOST_TEST(contains(error.message, root + "/nowhere"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
