#include "storage/scratch.hpp"

namespace headway::storage {

BOOST_FIXTURE_TEST_SUITE(verify_suite, Scratch)

BOOST_AUTO_TEST_CASE(one_flipped_byte_is_found_with_both_checksums) {
  write("source/a.pt", std::string(100'000, 'a'));
  write("source/b.pt", std::string(100'000, 'b'));
  const std::string directory = save(*this, "c", 0, path("source"));
  const FileRecord expected = must(read_manifest(directory)).files[1];
  {
    std::fstream file(directory + "/b.pt");
    file.seekp(50'000);
    file.put('!');
  }
  const Error error = error_of(verify(directory));
  BOOST_TEST((error.kind == ErrorKind::corrupted));
  BOOST_TEST(contains(error.message, directory + "/b.pt is damaged: expected checksum " + expected.checksum +
                                         ", found checksum xxh3:"));
}

BOOST_AUTO_TEST_CASE(a_shortened_file_and_a_missing_one_are_named_the_first_by_name) {
  for (const char* name : {"a", "b", "c"}) write(std::string("source/") + name, "0123456789");
  const std::string directory = save(*this, "c", 0, path("source"));
  fs::remove(directory + "/c");
  BOOST_TEST(contains(error_of(verify(directory)).message,
                      directory + "/c is damaged: expected a file of 10 bytes, found no such file"));
  fs::resize_file(directory + "/b", 4);
  const Error error = error_of(verify(directory));
  BOOST_TEST((error.kind == ErrorKind::corrupted));
  BOOST_TEST(error.message == directory + "/b is damaged: expected 10 bytes, found 4 bytes");
}

BOOST_AUTO_TEST_CASE(a_directory_without_a_manifest_is_no_checkpoint) {
  write("run/users/own.pt", "mine");
  for (const char* name : {"/users", "/nowhere"}) {
    const Error error = error_of(read_manifest(run + name));
    BOOST_TEST((error.kind == ErrorKind::not_found));
    BOOST_TEST(contains(error.message, run + name));
  }
}

BOOST_AUTO_TEST_CASE(a_manifest_cut_at_any_byte_is_corrupted_and_named) {
  write("source/model.pt", "weights");
  const std::string directory = save(*this, "c", 0, path("source"));
  const std::string whole = read(directory + "/.headway.json");
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    write("run/c/.headway.json", std::string_view(whole).substr(0, length));
    const Error error = error_of(read_manifest(directory));
    BOOST_TEST((error.kind == ErrorKind::corrupted));
    BOOST_TEST(contains(error.message, directory + "/.headway.json"));
  }
}

BOOST_AUTO_TEST_CASE(a_manifest_that_lies_is_refused) {
  const auto refused = [&](Manifest manifest, std::string_view why) {
    write("run/c/.headway.json", to_json_text(manifest));
    const Error error = error_of(read_manifest(run + "/c"));
    BOOST_TEST((error.kind == ErrorKind::corrupted));
    BOOST_TEST(contains(error.message, run + "/c/.headway.json"));
    BOOST_TEST(contains(error.message, why), error.message);
  };
  Manifest older = manifest_of("c", 0, {});
  older.version = 0;
  refused(older, "version 0 is not known");
  refused(manifest_of("c", 0, {{"../../etc/passwd", 1, "xxh3:0", 0}}), "'..' part");
  refused(manifest_of("c", 0, {{"a", 1, "xxh3:0", 0}, {"a", 1, "xxh3:0", 1}}), "a is listed twice");
}

BOOST_AUTO_TEST_CASE(a_manifest_of_a_newer_version_says_so_whatever_else_it_holds) {
  write("run/c/.headway.json", R"({"version": 2, "files": "in another way"})");
  const Error error = error_of(read_manifest(run + "/c"));
  BOOST_TEST((error.kind == ErrorKind::invalid_argument));
  BOOST_TEST(error.message == run +
                                  "/c/.headway.json was written by a newer Headway (manifest version 2; this one "
                                  "reads version 1)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
