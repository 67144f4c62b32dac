#include "storage/scratch.hpp"

namespace headway::storage {

BOOST_FIXTURE_TEST_SUITE(placed_suite, Scratch)

BOOST_AUTO_TEST_CASE(what_the_user_has_placed_is_listed_without_checksums_and_needs_only_be_there) {
  write("run/mine/model.pt", "weights");
  const std::string directory = run + "/mine";
  must(commit_placed(directory, manifest_of("mine", 4, {})));
  const Manifest found = must(read_manifest(directory));
  BOOST_REQUIRE(found.files.size() == 1U);
  BOOST_TEST(found.files[0].name == "model.pt");
  BOOST_TEST(found.files[0].size == 7U);
  BOOST_TEST(found.files[0].checksum.empty());
  write("run/mine/model.pt", "more weights");
  must(verify(directory));
  fs::remove(directory + "/model.pt");
  BOOST_TEST((error_of(verify(directory)).kind == ErrorKind::corrupted));
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_not_there_yet_is_made_and_may_be_recorded_again_with_what_came) {
  const std::string directory = run + "/later";
  must(commit_placed(directory, manifest_of("later", 0, {})));
  BOOST_TEST(must(read_manifest(directory)).files.empty());
  write("run/later/part", "x");
  must(commit_placed(directory, manifest_of("later", 1, {})));
  BOOST_TEST(must(read_manifest(directory)).files.size() == 1U);
  BOOST_TEST(must(list_checkpoints(run)).size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_sweep_leaves_placed_files_alone_and_an_upload_under_way_is_not_recorded) {
  write("run/mine/model.pt", "weights");
  BOOST_TEST(must(sweep(run)).empty());
  BOOST_TEST(fs::exists(run + "/mine/model.pt"));
  must(begin_checkpoint(run + "/begun"));
  const Error refused = error_of(commit_placed(run + "/begun", manifest_of("begun", 0, {})));
  BOOST_TEST((refused.kind == ErrorKind::already_exists));
}

BOOST_AUTO_TEST_CASE(only_a_directory_right_in_the_run_s_folder_has_a_name_in_it) {
  BOOST_TEST(must(name_in_run(run, run + "/mine")) == "mine");
  BOOST_TEST(must(name_in_run(run + "/", run + "/x/../mine/")) == "mine");
  fs::create_directory_symlink(run, path("link"));
  BOOST_TEST(must(name_in_run(run, path("link") + "/mine")) == "mine");
  for (const std::string& outside : {run, run + "/a/b", path("elsewhere"), run + "/..", std::string("/")}) {
    const Error error = error_of(name_in_run(run, outside));
    BOOST_TEST((error.kind == ErrorKind::invalid_argument));
    BOOST_TEST(contains(error.message, "is not in the run's folder"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
