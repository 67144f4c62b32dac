#include "core/may_block.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

/// What may block is found on an event loop's thread.
namespace headway {

namespace {

/// How a child ends that does so; 0 when nothing is found.
int signal_that_ends(void (*act)()) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("HEADWAY_CHECK_LOOP", "1", 1);
    std::signal(SIGABRT, SIG_DFL);
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(may_block_suite)

BOOST_AUTO_TEST_CASE(what_may_block_ends_a_checked_process_on_the_event_loops_thread_and_nowhere_else) {
  const auto on_the_loop = [] {
    const EventLoopThread here;
    may_block("a file is opened");
  };
  const auto elsewhere = [] { may_block("a file is opened"); };
  const auto after_the_loop = [] {
    {
      const EventLoopThread here;
    }
    may_block("a file is opened");
  };
  BOOST_TEST(signal_that_ends(on_the_loop) == SIGABRT);
  BOOST_TEST(signal_that_ends(elsewhere) == 0);
  BOOST_TEST(signal_that_ends(after_the_loop) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
