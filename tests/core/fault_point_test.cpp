#include "core/fault_point.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace headway {

namespace {

/// The signal that ended a child which ran `work`; 0 when none did.
int signal_of(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fault_point_suite)

BOOST_AUTO_TEST_CASE(a_point_that_nobody_armed_does_nothing) {
  BOOST_TEST(signal_of([] { fault_point("a"); }) == 0);
}

BOOST_AUTO_TEST_CASE(an_armed_point_kills_at_the_count_and_others_do_not) {
  const auto reach = [](int times) {
    return signal_of([times] {
      arm_fault_point("a", 2);
      fault_point("b");
      for (int time = 0; time < times; ++time) fault_point("a");
    });
  };
  BOOST_TEST(reach(1) == 0);
  BOOST_TEST(reach(2) == SIGKILL);
}

BOOST_AUTO_TEST_CASE(the_star_stands_for_every_point_and_disarming_ends_it) {
  BOOST_TEST(signal_of([] {
               arm_fault_point("*", 2);
               fault_point("a");
               fault_point("b");
             }) == SIGKILL);
  BOOST_TEST(signal_of([] {
               arm_fault_point("*");
               disarm_fault_points();
               fault_point("a");
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_point_may_stop_the_process_which_then_goes_on) {
  const pid_t child = ::fork();
  if (child == 0) {
    arm_fault_point("a", 1, FaultDeed::stop);
    fault_point("a");
    ::_exit(0);
  }
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, WUNTRACED) == child);
  BOOST_TEST((WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP));
  ::kill(child, SIGCONT);
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
