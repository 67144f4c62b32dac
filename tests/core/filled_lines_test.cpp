#include "core/filled_lines.hpp"

#include <boost/test/unit_test.hpp>

namespace headway {

BOOST_AUTO_TEST_SUITE(filled_lines)

BOOST_AUTO_TEST_CASE(a_line_that_fits_stays_as_it_is) {
  BOOST_TEST(fill_lines("", 80) == "");
  BOOST_TEST(fill_lines("two  words ", 80) == "two  words ");
  BOOST_TEST(fill_lines("one\n\n  two\n", 80) == "one\n\n  two\n");
  const std::string forty(40, 'x');
  BOOST_TEST(fill_lines(forty, 40) == forty);
}

BOOST_AUTO_TEST_CASE(words_that_do_not_fit_go_to_the_next_line_four_columns_deeper) {
  BOOST_TEST(fill_lines("  rank 0 and rank 1 wait for rank 2, which has not come", 40) ==
             "  rank 0 and rank 1 wait for rank 2,\n      which has not come");
  BOOST_TEST(fill_lines("first\nthe second line is longer than forty columns are", 40) ==
             "first\nthe second line is longer than forty\n    columns are");
}

BOOST_AUTO_TEST_CASE(a_word_stays_whole_however_long_it_is) {
  const std::string path(50, 'p');
  BOOST_TEST(fill_lines(path, 40) == path);
  BOOST_TEST(fill_lines("results: " + path + " end", 40) == "results:\n    " + path + "\n    end");
}

BOOST_AUTO_TEST_CASE(a_terminal_of_no_columns_counts_as_one_of_forty) {
  BOOST_TEST(fill_lines("these are words of thirty-nine columns.", 0) == "these are words of thirty-nine columns.");
  BOOST_TEST(fill_lines("these are words of more than forty columns", 1) ==
             "these are words of more than forty\n    columns");
}

BOOST_AUTO_TEST_CASE(characters_of_east_asia_take_two_columns_each) {
  BOOST_TEST(fill_lines("学習中学習中学習中 学習中学習中学習中 学習", 40) ==
             "学習中学習中学習中 学習中学習中学習中\n    学習");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
