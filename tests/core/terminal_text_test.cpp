#include "core/terminal_text.hpp"

#include <boost/test/unit_test.hpp>

/// Text is measured in columns of a terminal, and what would move its cursor is left out.
namespace headway {

BOOST_AUTO_TEST_CASE(text_takes_as_many_columns_as_a_terminal_gives_it) {
  const auto takes = [](std::string_view text, std::size_t columns) {
    BOOST_TEST_CONTEXT(text) BOOST_TEST(text_width(text) == columns);
  };
  takes("", 0);
  takes("step 1", 6);
  takes("étape █▌", 8);
  takes("学習中 2/3", 10);
  takes("한글", 4);
  takes("ｆｕｌｌ", 8);
  takes("e\u0301tape", 5);         // A mark over the e.
  takes("สวัสดี", 4);                // Vowels above and below.
  takes("\u1112\u1161\u11ab", 2);  // A Hangul syllable of its parts.
  takes("a\u200bb", 2);
  takes("soft\u00adhyphen", 11);
}

BOOST_AUTO_TEST_CASE(emoji_take_two_columns_and_joined_ones_the_most_that_a_terminal_gives_them) {
  BOOST_TEST(text_width("🚀") == 2U);
  BOOST_TEST(text_width("❤") == 1U);
  BOOST_TEST(text_width("❤\ufe0f") == 2U);
  BOOST_TEST(text_width("1\ufe0f\u20e3") == 2U);
  BOOST_TEST(text_width("🇩🇪") == 2U);
  BOOST_TEST(text_width("👩\u200d💻") == 4U);
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_characters_take_a_column_each) {
  BOOST_TEST(text_width("a\xff\xe5") == 3U);
  BOOST_TEST(cut_to("\xe5\xad", 1) == "\xe5");
}

BOOST_AUTO_TEST_CASE(text_is_cut_to_columns_and_a_character_stays_with_its_marks) {
  BOOST_TEST(cut_to("é█x", 2) == "é█");
  BOOST_TEST(cut_to("ab", 5) == "ab");
  BOOST_TEST(cut_to("学習中", 5) == "学習");
  BOOST_TEST(cut_to("学習中", 6) == "学習中");
  BOOST_TEST(cut_to("e\u0301e\u0301", 1) == "e\u0301");
  BOOST_TEST(cut_to("❤\ufe0f!", 1) == "");
  BOOST_TEST(cut_to("🚀🚀", 3) == "🚀");
  BOOST_TEST(cut_to("", 3) == "");
  BOOST_TEST(cut_to("学", 0) == "");
}

BOOST_AUTO_TEST_CASE(text_of_parts_is_cut_between_them) {
  BOOST_TEST(cut_parts("epoch 3 · 20 steps/s · 640 samples/s", 36) == "epoch 3 · 20 steps/s · 640 samples/s");
  for (const std::size_t columns : {20U, 21U, 22U, 23U, 24U, 35U})
    BOOST_TEST(cut_parts("epoch 3 · 20 steps/s · 640 samples/s", columns) == "epoch 3 · 20 steps/s");
  BOOST_TEST(cut_parts("epoch 3 · 20 steps/s", 19) == "epoch 3");
  BOOST_TEST(cut_parts("epoch 3 · 20 steps/s", 4) == "epoc");
  BOOST_TEST(cut_parts("importing torch", 9) == "importing");
  BOOST_TEST(cut_parts("", 9) == "");
}

BOOST_AUTO_TEST_CASE(colours_movements_and_titles_leave_nothing_behind) {
  BOOST_TEST(without_escapes("60%|\x1b[32m█████     \x1b[0m| 3/5") == "60%|█████     | 3/5");
  BOOST_TEST(without_escapes("\x1b[A\x1b[2Kinner\x1b[38;5;196m!\x1b"
                             "7") == "inner!");
  BOOST_TEST(without_escapes("\x1b]0;a title\x07line") == "line");
  BOOST_TEST(without_escapes("\x1b]8;;https://host/\x1b\\a link\x1b]8;;\x1b\\") == "a link");
  BOOST_TEST(without_escapes("\x1b(B\x1b[mplain") == "plain");
}

BOOST_AUTO_TEST_CASE(a_control_sequence_that_is_cut_off_leaves_nothing_behind) {
  for (const std::string_view cut : {"\x1b", "\x1b[", "\x1b[38;5;1", "\x1b]0;tit", "\x1b("})
    BOOST_TEST(without_escapes("3/5" + std::string(cut)) == "3/5");
  BOOST_TEST(without_escapes("\x1b[31\x1b[32mgreen") == "green");
  BOOST_TEST(without_escapes("\x1b]0;tit\x1b[32mgreen") == "green");
  BOOST_TEST(without_escapes("\x1b[3学") == "学");
}

BOOST_AUTO_TEST_CASE(control_characters_are_left_out_and_blanks_stay_blank) {
  BOOST_TEST(without_escapes("bell\x07, tab\tend\n") == "bell, tab end ");
  BOOST_TEST(without_escapes("c1\u009b31m, turned \u202etxt\u2069") == "c131m, turned txt");
  BOOST_TEST(without_escapes("bad \xff byte") == "bad \ufffd byte");
  BOOST_TEST(without_escapes("👩\u200d💻 e\u0301") == "👩\u200d💻 e\u0301");
}

}  // namespace headway
