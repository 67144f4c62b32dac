#include "core/output_line.hpp"

#include <boost/test/unit_test.hpp>

/// What a terminal ends up with, and which of it is a progress bar that has ended.
namespace headway {

BOOST_AUTO_TEST_CASE(a_line_is_what_was_written_last_over_it) {
  BOOST_TEST(output_line("plain").seen == "plain");
  BOOST_TEST(output_line("windows\r").seen == "windows");
  BOOST_TEST(output_line("10%\r 20%\r100%").seen == "100%");
  BOOST_TEST(output_line("").seen == "");
}

BOOST_AUTO_TEST_CASE(colours_stay_and_movements_of_the_cursor_do_not) {
  BOOST_TEST(output_line("\x1b[A{'eval_loss': 1}\x1b[2K\x1b[1;5H").seen == "{'eval_loss': 1}");
  BOOST_TEST(output_line("\x1b]0;title\x07"
                         "a\x1b[31;1mred\x1b[0m\x1b")
                 .seen == "a\x1b[31;1mred\x1b[0m");
}

BOOST_AUTO_TEST_CASE(a_progress_bar_that_was_drawn_before_with_other_numbers_has_ended) {
  BOOST_TEST(output_line("\repoch 3:  80%|########  | 8/10 [00:00<00:00, 19.93it/s]"
                         "\repoch 3: 100%|##########| 10/10 [00:00<00:00, 19.92it/s]")
                 .ended_bar);
  BOOST_TEST(output_line("\r 80%| 8/10 [00:00<00:00, 1.93it/s]\r100%| 10/10 [00:00<00:00, 1.02s/it]\r").ended_bar);
  BOOST_TEST(output_line("10%\r100%").ended_bar);
}

BOOST_AUTO_TEST_CASE(text_is_no_bar_that_has_ended) {
  BOOST_TEST(!output_line("step 7").ended_bar);
  BOOST_TEST(!output_line("windows\r").ended_bar);
  BOOST_TEST(!output_line("\ronce").ended_bar);
  // As tqdm.write clears its bar for a line of text.
  BOOST_TEST(!output_line("\r 80%| 8/10 [00:00<00:00, 1.93it/s]\r               \rvalidated").ended_bar);
  BOOST_TEST(!output_line("\r               \r42").ended_bar);
  // Printed behind a bar.
  BOOST_TEST(!output_line("\r 70%| 7/10\r 80%| 8/10Traceback (most recent call last):").ended_bar);
}

}  // namespace headway
