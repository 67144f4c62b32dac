#include "library/program_run.hpp"

/// The examples that need nothing but Headway, as a user runs them.
namespace headway::library {

BOOST_AUTO_TEST_SUITE(examples_suite)

BOOST_AUTO_TEST_CASE(the_examples_come_to_their_results) {
#if defined(__SANITIZE_THREAD__)
  const std::string start = "exec";  // ThreadSanitizer starts a thread.
#else
  const std::string start = "fork";
#endif
  for (const std::string program : {HEADWAY_TEST_EXAMPLE_PLAIN, HEADWAY_TEST_EXAMPLE_RECOVER, HEADWAY_TEST_EXAMPLE_DATA,
                                    HEADWAY_TEST_EXAMPLE_TUNE}) {
    const Folder folder;
    const Ended ended = run_command("HEADWAY_WORKER_START=" + start + " " + program + " " + folder.path());
    BOOST_TEST_CONTEXT(ended.output) { BOOST_TEST(ended.code == 0); }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
