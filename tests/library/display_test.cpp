#include "library/program_run.hpp"

#include <fstream>
#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

/// Programs whose standard output cannot be written.
namespace headway::library {

BOOST_FIXTURE_TEST_SUITE(display_suite, TrainProgram)

BOOST_AUTO_TEST_CASE(a_full_disk_below_standard_output_is_warned_of_once_and_the_training_ends_well) {
  const Ended ended =
      run_command("(" HEADWAY_TEST_PROGRAM " sum_up " + folder.path() + " > /dev/full; echo code $? >&2)");
  BOOST_TEST_CONTEXT(ended.output) {
    const std::string warning =
        "headway: warning: standard output cannot be written (No space left on device): nothing more is shown there\n";
    BOOST_TEST(ended.says(warning));
    BOOST_TEST(ended.output.find(warning) == ended.output.rfind(warning));
    BOOST_TEST(ended.says("code 0"));
  }
}

BOOST_AUTO_TEST_CASE(a_pipe_that_nobody_reads_does_not_end_the_training) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  constexpr int known_to_the_shell = 9;
  BOOST_REQUIRE(dup2(ends[1], known_to_the_shell) == known_to_the_shell);
  close(ends[1]);
  const Ended ended = run_command("(" HEADWAY_TEST_PROGRAM " sum_up " + folder.path() + " >&9)");
  close(known_to_the_shell);
  // What the program prints by itself, after fit(), ends it: that is its own.
  BOOST_TEST(ended.says("headway: warning: standard output cannot be written (Broken pipe): nothing more is shown"));
  BOOST_TEST(ended.says("headway: finished in "));
}

BOOST_AUTO_TEST_CASE(the_moving_line_of_a_terminal_is_cut_by_columns_and_shows_no_colour_sequences) {
  const std::string gate = folder.path() + "/gate";
  BOOST_REQUIRE(mkfifo(gate.c_str(), 0600) == 0);
  winsize size{};
  size.ws_col = 24;
  size.ws_row = 20;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    execl(HEADWAY_TEST_PROGRAM, HEADWAY_TEST_PROGRAM, "draw_bar", folder.path().c_str(), nullptr);
    _exit(127);
  }
  std::string seen;
  const auto read_more = [&] {
    std::array<char, 4096> buffer{};
    const ssize_t size_read = read(terminal, buffer.data(), buffer.size());
    if (size_read > 0) seen.append(buffer.data(), static_cast<std::size_t>(size_read));
    return size_read > 0;
  };
  const auto drawn = [&] { return seen.find("学習中学習中学") != std::string::npos; };
  while (!drawn() && read_more()) continue;
  BOOST_TEST_CONTEXT(seen) {
    BOOST_TEST(seen.ends_with("(rank 0) 学習中学習中学"));  // 23 of 24 columns.
    BOOST_TEST(seen.find("32m") == std::string::npos);
  }
  std::ofstream(gate) << "go";
  while (read_more()) continue;
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  close(terminal);
}

BOOST_AUTO_TEST_CASE(metrics_that_are_named_as_automatic_ones_have_columns) {
  both("name_automatic", [&](const Ended& ended) {
    BOOST_TEST(ended.says("report      done      date    time_s  checkpoint\n"));
    BOOST_TEST(ended.says("     1        35     today  "));
  });
}

BOOST_AUTO_TEST_CASE(optimizer_steps_that_a_loop_counts_are_in_the_runs_step_times) {
  both("count_steps", [&](const Ended& ended) {
    BOOST_TEST(ended.says("rank 0 steps 4\n"));
    BOOST_TEST(ended.says("rank 1 steps 4\n"));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
