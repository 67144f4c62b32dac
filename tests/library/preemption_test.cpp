#include "library/program_run.hpp"

/// SIGTERM to a C++ program that trains; tests/python/test_driver_preemption.py has more of it.
namespace headway::library {

BOOST_AUTO_TEST_SUITE(preemption_suite)

BOOST_AUTO_TEST_CASE(sigterm_is_a_notice_after_which_the_ranks_save_and_the_next_start_resumes) {
  for (const std::string start : {"fork", "exec"}) {
    if (start == "fork" && !can_fork) continue;
    const Folder place;
    const std::string command = "HEADWAY_WORKER_START=" + start +
                                " exec " HEADWAY_TEST_PROGRAM " save_when_preempted " + place.path() + " 2>&1";
    Pipe pipe(command);
    const std::vector<Watched> processes = processes_of(pipe);
    const int status = pipe.end_by(SIGTERM);
    const std::string output = pipe.rest();
    BOOST_TEST_CONTEXT(output) {
      BOOST_TEST(WIFEXITED(status));
      BOOST_TEST(output.find("rank 0 hears of it") != std::string::npos);
      BOOST_TEST(output.find("rank 1 hears of it") != std::string::npos);
      BOOST_TEST(
          output.find("error preempted: preempted: the driver received SIGTERM; checkpoint_000000 was saved after "
                      "that, in attempt 1\n") != std::string::npos);
    }
    for (const Watched& process : processes) BOOST_TEST(process.ends());
    const Ended next = run_command(command);
    BOOST_TEST_CONTEXT(next.output) {
      BOOST_TEST(next.says("Why it had not finished: preempted: the driver received SIGTERM; checkpoint_000000 was"));
      BOOST_TEST(next.says("returned true\nattempts 2"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
