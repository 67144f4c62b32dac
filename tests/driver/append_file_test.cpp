#include "driver/append_file.hpp"
#include "driver/file_size_limit.hpp"
#include "storage/scratch.hpp"

namespace headway::driver {

using storage::must;
using storage::read;
using storage::Scratch;

BOOST_FIXTURE_TEST_SUITE(append_file_suite, Scratch)

BOOST_AUTO_TEST_CASE(what_is_appended_can_be_read_at_once_behind_what_was_there) {
  AppendFile file(write("results", "old\n"));
  must(file.append("first\n"));
  BOOST_TEST(read(file.path()) == "old\nfirst\n");
  must(file.append("second\n"));
  BOOST_TEST(read(file.path()) == "old\nfirst\nsecond\n");
}

BOOST_AUTO_TEST_CASE(a_piece_that_does_not_fit_leaves_nothing_of_itself_and_the_next_one_is_whole) {
  AppendFile file(path("results"));
  must(file.append("first\n"));
  {
    const FileSizeLimit full(9);
    const Error error = storage::error_of(file.append("much too long\n"));
    BOOST_TEST(storage::contains(error.message, file.path()));
  }
  BOOST_TEST(read(file.path()) == "first\n");
  must(file.append("third\n"));
  BOOST_TEST(read(file.path()) == "first\nthird\n");
}

BOOST_AUTO_TEST_CASE(a_file_that_can_not_be_opened_is_named) {
  AppendFile file(path("nowhere/results"));
  BOOST_TEST(storage::contains(storage::error_of(file.append("x")).message, path("nowhere/results")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
