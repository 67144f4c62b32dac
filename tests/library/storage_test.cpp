#include <headway/storage.hpp>

#include "library/program_run.hpp"

#include <boost/test/unit_test.hpp>

namespace headway {

BOOST_FIXTURE_TEST_SUITE(storage_suite, library::Folder)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_and_listed) {
  const Storage storage = Storage::at(path()).value();
  storage.write("notes.txt", "the third try").value();
  storage.write("best/model.bin", std::string("\0\1", 2)).value();
  storage.write("notes.txt", "the fourth").value();
  BOOST_TEST(storage.read("notes.txt").value() == "the fourth");
  BOOST_TEST(storage.read("best/model.bin").value() == std::string("\0\1", 2));
  BOOST_TEST(storage.list().value() == (std::vector<std::string>{"best/model.bin", "notes.txt"}));
  BOOST_TEST(storage.below("best").value().list().value() == std::vector<std::string>{"model.bin"});
}

BOOST_AUTO_TEST_CASE(a_path_becomes_absolute_and_a_file_url_a_path) {
  BOOST_TEST(Storage::at("some/./folder/").value().location() ==
             (std::filesystem::current_path() / "some/folder").string());
  BOOST_TEST(Storage::at("file://" + path()).value().location() == path());
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_told) {
  const auto read = Storage::at(path()).value().read("none");
  BOOST_REQUIRE(!read);
  BOOST_TEST((read.error().kind == ErrorKind::not_found));
  BOOST_TEST(read.error().message.find(path() + "/none") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_stay_below_the_folder) {
  const Storage storage = Storage::at(path()).value();
  for (const std::string name : {"", "..", "a/../../b", "/etc/passwd"}) {
    const auto written = storage.write(name, "x");
    BOOST_REQUIRE(!written);
    BOOST_TEST((written.error().kind == ErrorKind::invalid_argument));
    BOOST_TEST(written.error().message.starts_with("name is \"" + name + "\"; allowed: "));
    BOOST_TEST(!storage.read(name));
    BOOST_TEST(!storage.below(name));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_location_and_a_scheme_that_nobody_knows_are_refused) {
  BOOST_TEST(Storage::at("").error().message.starts_with("location is empty; allowed: "));
  BOOST_TEST(!Storage::at("nosuch://place"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
