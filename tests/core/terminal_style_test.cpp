#include "core/terminal_style.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>

/// Warnings look like warnings.
namespace headway {

BOOST_AUTO_TEST_CASE(the_first_word_of_a_notice_has_the_style_of_its_kind) {
  BOOST_TEST(styled_notice("headway: warning: rank 1 is slow") == "headway: \x1b[33mwarning:\x1b[0m rank 1 is slow");
  BOOST_TEST(styled_notice("headway: failed after 3 s") == "headway: \x1b[31mfailed\x1b[0m after 3 s");
  BOOST_TEST(styled_notice("headway: Restarting the worker group") ==
             "headway: \x1b[1mRestarting\x1b[0m the worker group");
  for (const std::string text : {"headway: finished in 3 s", "warning: another's", "headway: warnings", "headway: "})
    BOOST_TEST(styled_notice(text) == text);
}

BOOST_AUTO_TEST_CASE(a_dumb_terminal_and_no_color_have_no_colours) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  BOOST_TEST(takes_colours());
  setenv("NO_COLOR", "1", 1);
  BOOST_TEST(!takes_colours());
  setenv("NO_COLOR", "", 1);
  BOOST_TEST(takes_colours());
  setenv("TERM", "dumb", 1);
  BOOST_TEST(!takes_colours());
  unsetenv("TERM");
  BOOST_TEST(!takes_colours());
}

}  // namespace headway
