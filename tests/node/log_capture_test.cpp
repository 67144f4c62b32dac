#include "node/log_capture.hpp"

#include "core/text.hpp"
#include "node/scratch.hpp"
#include "threads_left.hpp"

#include <csignal>
#include <functional>
#include <thread>

/// A worker's output: all of it and in order, whatever its writer does.
namespace headway::node {

namespace {

struct Pipe {
  Pipe() : pipe(make_pipe()) {
    ::fcntl(pipe.b.get(), F_SETPIPE_SZ, 1 << 20);
    log_path = scratch.path("rank_0.log");
    capture = std::make_shared<LogCapture>(threads, pipe.a.release(), log_path, [this](std::string_view line) {
      lines.emplace_back(line);
      return --until_pause != 0;
    });
    capture->start();
  }
  ~Pipe() {
    finish(capture);
    loop.restart();
    loop.run();
  }

  void print(std::string_view text) { write_all(pipe.b.get(), text); }
  /// Until the capture has ended, and its log file has all that it is given.
  void finish(const std::shared_ptr<LogCapture>& ended) {
    bool done = false;
    loop.restart();
    if (!ended->finish([&] { done = true; })) return;
    while (!done) loop.run_one();
  }
  void finish() { finish(capture); }
  std::string log() {
    loop.restart();
    while (!threads.idle()) loop.run_one();
    return read_file(log_path);
  }

  boost::asio::io_context loop;
  LogThreads threads{loop};
  Scratch scratch;
  Ends pipe;
  std::string log_path;
  std::vector<std::string> lines;
  long until_pause = -1;  ///< The sink says false at this line.
  std::shared_ptr<LogCapture> capture;
};

using Lines = std::vector<std::string>;
constexpr std::size_t kib = 1 << 10;

}  // namespace

BOOST_AUTO_TEST_SUITE(log_capture_suite)

BOOST_FIXTURE_TEST_CASE(a_hundred_thousand_lines_arrive_complete_and_in_order, Pipe) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i) + "\n";
  std::thread writer([&] {
    write_all(pipe.b.get(), text);
    pipe.b.close();
  });
  loop.run();
  writer.join();
  BOOST_REQUIRE(lines.size() == 100'000U);
  BOOST_TEST(lines.front() == "line 0");
  BOOST_TEST(lines.back() == "line 99999");
  std::string again;
  for (const std::string& line : lines) again += line + "\n";
  BOOST_TEST((again == text));
  BOOST_TEST((log() == text));
}

BOOST_FIXTURE_TEST_CASE(lines_are_shown_while_the_writer_lives_and_parts_of_lines_wait, Pipe) {
  print("one\n\ntw");
  loop.poll();
  BOOST_TEST(lines == (Lines{"one", ""}));
  BOOST_TEST(log() == "one\n\ntw");
  print("o\n");
  loop.poll();
  BOOST_TEST(lines == (Lines{"one", "", "two"}));
}

BOOST_AUTO_TEST_CASE(a_log_that_cannot_be_written_costs_no_line_and_is_told) {
  for (const char* path : {"/dev/full", "/no/such/folder/rank_0.log"}) {
    boost::asio::io_context loop;
    LogThreads threads(loop);
    Ends pipe = make_pipe();
    Lines shown;
    const auto capture = std::make_shared<LogCapture>(threads, pipe.a.release(), path, [&](std::string_view line) {
      shown.emplace_back(line);
      return true;
    });
    write_all(pipe.b.get(), "one\ntwo\n");
    bool done = false;
    capture->finish([&] { done = true; });
    while (!done) loop.run_one();
    BOOST_TEST(shown == (Lines{"one", "two"}));
    BOOST_TEST(capture->trouble().starts_with(path + std::string(" lacks a part of the output: ")));
  }
}

// They need memory for each thread.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
BOOST_AUTO_TEST_CASE(a_log_is_whole_where_the_system_gives_few_threads_or_none) {
  for (const int threads_max : {2, 0}) {
    const ThreadsLeft left(threads_max);
    Pipe pipe;
    pipe.print("one\ntwo\n");
    pipe.finish();
    BOOST_TEST(pipe.log() == "one\ntwo\n");
    BOOST_TEST(pipe.capture->trouble().empty());
  }
}
#endif

BOOST_FIXTURE_TEST_CASE(a_last_line_without_its_end_is_shown_too, Pipe) {
  print("whole\nnot who");
  finish();
  BOOST_TEST(lines == (Lines{"whole", "not who"}));
  BOOST_TEST(capture->trouble() == "");
  BOOST_TEST(log() == "whole\nnot who");
  BOOST_TEST(capture->tail() == "whole\nnot who\n");
}

BOOST_FIXTURE_TEST_CASE(a_line_that_is_drawn_over_and_over_is_shown_as_it_moves, Pipe) {
  print("\r 10%|#   |");
  loop.poll();
  print("\r 20%|##  |");
  loop.poll();
  print("\r 90%|### |");
  loop.poll();
  print("\r100%|####|");
  loop.poll();
  print("\n");
  loop.poll();
  // The line that has ended shows that it was drawn over.
  BOOST_TEST(lines ==
             (Lines{" 10%|#   |\r", " 20%|##  |\r", " 90%|### |\r", "100%|####|\r", "\r 90%|### |\r100%|####|"}));
  print("1 of 2\r");
  loop.poll();
  print("2 of 2\r");
  loop.poll();
  print("\n");
  loop.poll();
  BOOST_TEST(lines.size() == 8U);
  BOOST_TEST(lines[5] == "1 of 2\r");
  BOOST_TEST(lines[6] == "2 of 2\r");
  BOOST_TEST(lines[7] == "1 of 2\r2 of 2");
  BOOST_TEST(capture->tail() == "100%|####|\n2 of 2\n");
  BOOST_TEST(log().starts_with("\r 10%|#   |\r 20%|##  |\r 90%|### |\r100%|####|\n"));
}

BOOST_FIXTURE_TEST_CASE(a_bar_that_moves_for_long_makes_no_line_of_its_own, Pipe) {
  for (int i = 0; i < 5'000; ++i) print("\r" + std::to_string(i) + std::string(60, '#'));
  loop.poll();
  for (const std::string& line : lines) BOOST_TEST(line.ends_with('\r'));
}

BOOST_FIXTURE_TEST_CASE(bytes_that_are_no_text_come_through, Pipe) {
  const std::string bytes("\0\xff\r\x1b[31m\n", 9);
  print(bytes);
  finish();
  BOOST_REQUIRE(lines.size() == 1U);
  BOOST_TEST(lines[0] == bytes.substr(0, 8));
  BOOST_TEST(log() == bytes);
}

BOOST_FIXTURE_TEST_CASE(of_lines_longer_than_64_kib_begin_and_end_are_shown_and_the_file_has_all, Pipe) {
  for (const std::size_t length : {64 * kib, 64 * kib + 1, 100 * kib, 128 * kib, 300 * kib}) {
    lines.clear();
    std::string line;
    for (std::size_t i = 0; i < length; ++i) line += static_cast<char>('a' + i % 26);
    print(line + "\nshort\n");
    loop.poll();
    BOOST_TEST(lines.back() == "short");
    BOOST_TEST(log().ends_with(line + "\nshort\n"));
    if (length == 64 * kib) {
      BOOST_TEST((lines == Lines{line, "short"}));
      continue;
    }
    const Lines cut{line.substr(0, 4 * kib) + " [rank_0.log has the whole line]", "... " + line.substr(length - kib),
                    "short"};
    BOOST_TEST((lines == cut));
    BOOST_TEST(capture->tail().ends_with(cut[1] + "\nshort\n"));
  }
}

BOOST_FIXTURE_TEST_CASE(a_line_without_an_end_is_cut_once_and_between_characters, Pipe) {
  std::string line = "x";
  while (line.size() < 2 << 20) line += "\u00e9";
  std::thread writer([&] { write_all(pipe.b.get(), line); });
  while (log().size() < line.size()) {
    loop.restart();
    loop.poll();
  }
  writer.join();
  BOOST_REQUIRE(lines.size() == 1U);
  BOOST_TEST((lines[0] == line.substr(0, 4 * kib - 1) + " [rank_0.log has the whole line]"));
  finish();
  BOOST_REQUIRE(lines.size() == 2U);
  BOOST_TEST(is_utf8(lines[1]));
  BOOST_TEST(lines[1].size() <= kib + 4);
}

BOOST_FIXTURE_TEST_CASE(a_sink_that_is_full_stops_the_reading_until_it_has_space, Pipe) {
  until_pause = 1;
  std::string text;
  for (int i = 0; i < 4'000; ++i) text += "0123456789 0123456789 0123456789 0123456789 0123456789 01234567\n";
  print(text);
  loop.poll();
  const std::size_t before = lines.size();
  BOOST_TEST(before >= 1U);
  BOOST_TEST(before <= 64 * kib / 64);
  loop.poll();
  BOOST_TEST(lines.size() == before);
  capture->resume();
  loop.poll();
  BOOST_TEST(lines.size() == 4'000U);
  BOOST_TEST((log() == text));
}

BOOST_FIXTURE_TEST_CASE(a_sink_that_stops_again_and_again_loses_nothing, Pipe) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + "\n";
  print(text);
  while (lines.size() < 20'000U) {
    until_pause = 1;
    loop.poll();
    capture->resume();
  }
  BOOST_TEST(lines.back() == "19999");
  BOOST_TEST((log() == text));
}

BOOST_FIXTURE_TEST_CASE(the_writer_dies_while_the_sink_is_full_and_all_of_its_output_is_still_taken, Pipe) {
  until_pause = 1;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + "\n";
  print(text);
  pipe.b.close();
  loop.poll();
  BOOST_TEST(lines.size() < 50'000U);
  finish();
  BOOST_TEST(lines.size() == 50'000U);
  BOOST_TEST((log() == text));
}

BOOST_FIXTURE_TEST_CASE(the_writer_dies_while_a_grandchild_holds_the_pipe_and_the_capture_ends_all_the_same, Pipe) {
  const Descriptor grandchild(::fcntl(pipe.b.get(), F_DUPFD_CLOEXEC, 3));
  print("last words\npart");
  pipe.b.close();
  finish();
  BOOST_TEST(lines == (Lines{"last words", "part"}));
  pollfd reader_gone{grandchild.get(), 0, 0};
  BOOST_TEST(::poll(&reader_gone, 1, 0) == 1);
  BOOST_TEST((reader_gone.revents & POLLERR) != 0);
}

BOOST_FIXTURE_TEST_CASE(a_grandchild_that_never_stops_writing_does_not_keep_the_capture_from_ending, Pipe) {
  std::thread grandchild([&] {
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    const std::string text(64 * kib, 'x');
    while (::write(pipe.b.get(), text.data(), text.size()) > 0) {
    }
  });
  finish();
  grandchild.join();
  BOOST_TEST(lines.size() <= 65U);
}

BOOST_FIXTURE_TEST_CASE(the_tail_is_the_last_twenty_lines, Pipe) {
  for (int i = 0; i < 50; ++i) print(std::to_string(i) + "\n");
  finish();
  BOOST_TEST(capture->tail().starts_with("30\n31\n"));
  BOOST_TEST(capture->tail().ends_with("48\n49\n"));
}

BOOST_FIXTURE_TEST_CASE(a_second_attempt_appends_to_the_first_ones_log, Pipe) {
  print("first\n");
  finish();
  Ends next = make_pipe();
  auto second =
      std::make_shared<LogCapture>(threads, next.a.release(), log_path, [](std::string_view) { return true; });
  write_all(next.b.get(), "second\n");
  finish(second);
  BOOST_TEST(log() == "first\nsecond\n");
}

BOOST_FIXTURE_TEST_CASE(without_a_file_to_write_to_the_lines_are_still_shown, Pipe) {
  Ends next = make_pipe();
  Lines shown;
  auto capture_only =
      std::make_shared<LogCapture>(threads, next.a.release(), "/nowhere/rank_0.log",
                                   [&](std::string_view line) { return shown.emplace_back(line), true; });
  write_all(next.b.get(), "shown\n");
  finish(capture_only);
  BOOST_TEST(shown == Lines{"shown"});
}

BOOST_FIXTURE_TEST_CASE(a_disk_that_does_not_answer_holds_up_the_writer_and_nobody_else, Pipe) {
  StalledFile file;
  Ends next = make_pipe();
  std::size_t shown = 0;
  auto stalled =
      std::make_shared<LogCapture>(threads, next.a.release(), file.path, [&](std::string_view) { return ++shown > 0; });
  stalled->start();
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(1'000'000 + i) + "\n";
  std::thread writer([&] { write_all(next.b.get(), text); });
  const auto bound = LogFile::waiting_bytes_max + 128 * kib;
  while (shown * 8 < LogFile::waiting_bytes_max) loop.run_one();
  print("another rank\n");
  while (lines.empty()) loop.run_one();
  BOOST_TEST(lines == Lines{"another rank"});
  loop.poll();
  BOOST_TEST(shown * 8 <= bound);
  std::string stored;
  std::thread disk([&] { stored = file.take(text.size()); });
  while (shown < 400'000U) loop.run_one();
  finish(stalled);
  writer.join();
  disk.join();
  BOOST_TEST((stored == text));
  BOOST_TEST(stalled->trouble() == "");
}

BOOST_FIXTURE_TEST_CASE(a_disk_that_does_not_answer_is_given_up_at_the_end_and_named, Pipe) {
  StalledFile file;
  Ends next = make_pipe();
  auto stalled =
      std::make_shared<LogCapture>(threads, next.a.release(), file.path, [](std::string_view) { return true; });
  write_all(next.b.get(), "last words\n");
  bool done = false;
  stalled->finish([&] { done = true; }, std::chrono::milliseconds(1));
  while (!done) loop.run_one();
  BOOST_TEST(stalled->trouble() == file.path + " lacks a part of the output: its disk has not answered for 0 s");
  BOOST_TEST(stalled->tail() == "last words\n");
  BOOST_TEST(file.take(11) == "last words\n");  // A thread was in the middle of it.
  while (!threads.idle()) loop.run_one();
}

BOOST_FIXTURE_TEST_CASE(an_exception_of_the_sink_ends_the_pipe_with_its_words, Pipe) {
  int pipe_fds[2];
  BOOST_REQUIRE(::pipe2(pipe_fds, O_CLOEXEC) == 0);
  const Descriptor writer(pipe_fds[1]);
  const auto throwing = std::make_shared<LogCapture>(
      threads, pipe_fds[0], "", [](std::string_view) -> bool { throw std::runtime_error("the sink is broken"); });
  throwing->start();
  write_all(writer.get(), "one\ntwo\n");
  loop.poll();
  BOOST_TEST(throwing->trouble() ==
             "the output of a worker is no longer read: an unexpected exception: the sink is broken");
  // Nobody holds the reading end any more, so a writer gets an error instead of waiting.
  pollfd end{writer.get(), POLLOUT, 0};
  BOOST_TEST(::poll(&end, 1, 0) == 1);
  BOOST_TEST((end.revents & POLLERR) != 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
