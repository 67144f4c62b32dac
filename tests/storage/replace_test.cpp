#include "storage/scratch.hpp"

namespace headway::storage {

BOOST_FIXTURE_TEST_SUITE(replace_suite, Scratch)

BOOST_AUTO_TEST_CASE(a_replaced_file_holds_the_new_content_and_nothing_lies_beside_it) {
  must(replace_file(run + "/run.json", "old and longer"));
  must(replace_file(run + "/run.json", "new"));
  BOOST_TEST(read(run + "/run.json") == "new");
  BOOST_TEST(std::distance(fs::directory_iterator(run), {}) == 1);
}

BOOST_AUTO_TEST_CASE(a_file_that_can_not_be_replaced_keeps_its_content_and_is_named) {
  fs::create_directories(run + "/taken/full");
  BOOST_TEST(contains(error_of(replace_file(run + "/taken", "x")).message, run + "/taken: is a directory"));
  BOOST_TEST(std::distance(fs::directory_iterator(run), {}) == 1);
  BOOST_TEST(contains(error_of(replace_file(root + "/nowhere/run.json", "x")).message, root + "/nowhere"));
}

BOOST_AUTO_TEST_CASE(a_probe_makes_the_run_directory_and_leaves_it_empty) {
  must(probe(path("storage/deep/run")));
  BOOST_TEST(fs::is_empty(path("storage/deep/run")));
  must(probe(path("storage/deep/run")));
}

BOOST_AUTO_TEST_CASE(a_probe_where_a_file_is_in_the_way_says_so) {
  write("file", "f");
  for (const char* name : {"file", "file/run"}) {
    const Error error = error_of(probe(path(name)));
    BOOST_TEST((error.kind == ErrorKind::unavailable));
    BOOST_TEST(contains(error.message, "RunConfig.storage_path: the run's folder " + path(name) + " can't be used: "));
    BOOST_TEST(contains(error.message, "not a directory"));
  }
}

BOOST_AUTO_TEST_CASE(a_download_replaces_older_files_and_keeps_what_is_not_in_the_checkpoint) {
  write("source/deep/model.pt", "new");
  write("target/deep/model.pt", "older and longer");
  write("target/notes.txt", "mine");
  must(download(save(*this, "c", 0, path("source")), path("target")));
  BOOST_TEST(read(path("target/deep/model.pt")) == "new");
  BOOST_TEST((names_of(must(list_files(path("target")))) == Names{"deep/model.pt", "notes.txt"}));
  BOOST_TEST(!fs::exists(path("target/.headway.json")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
