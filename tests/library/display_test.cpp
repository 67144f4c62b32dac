#include "library/program_run.hpp"

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
