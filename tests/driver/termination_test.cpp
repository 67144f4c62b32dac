#include "driver/termination.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

/// SIGTERM to a driver's process.
namespace headway::driver {
namespace {

using Handler = void (*)(int);

Handler handler() {
  struct sigaction now{};
  sigaction(SIGTERM, nullptr, &now);
  return now.sa_handler;
}

void ignore(int) {}

/// Counts what is heard.
struct Ear {
  boost::asio::io_context loop;
  int heard = 0;
  Termination termination{loop, [this] { ++heard; }};

  /// All that has come.
  int listen() {
    loop.restart();
    loop.poll();
    return heard;
  }
};

/// The status of a forked child that does `what`.
template <class What>
int status_of(What what) {
  const pid_t child = fork();
  if (child == 0) {
    what();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(termination_suite, Ear)

BOOST_AUTO_TEST_CASE(it_is_heard_while_it_is_watched_and_each_time) {
  BOOST_TEST((handler() == SIG_DFL));
  for (int times = 1; times <= 2; ++times) {
    termination.watch();
    termination.watch();
    BOOST_TEST(listen() == 2 * times - 2);
    raise(SIGTERM);
    BOOST_TEST(listen() == 2 * times - 1);
    raise(SIGTERM);
    BOOST_TEST(listen() == 2 * times);
    termination.leave();
    BOOST_TEST((handler() == SIG_DFL));
  }
}

BOOST_AUTO_TEST_CASE(a_handler_of_the_program_stays_whenever_it_was_set) {
  std::signal(SIGTERM, ignore);
  termination.watch();
  BOOST_TEST((handler() == ignore));
  termination.leave();
  BOOST_TEST((handler() == ignore));
  std::signal(SIGTERM, SIG_DFL);
  termination.watch();
  std::signal(SIGTERM, ignore);
  termination.leave();
  BOOST_TEST((handler() == ignore));
  std::signal(SIGTERM, SIG_DFL);
  BOOST_TEST(heard == 0);
}

BOOST_AUTO_TEST_CASE(a_fork_ends_by_it_as_if_nobody_heard_it_and_this_process_hears_nothing) {
  termination.watch();
  const int status = status_of([] { raise(SIGTERM); });
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  BOOST_TEST(listen() == 0);
}

BOOST_AUTO_TEST_CASE(a_fork_may_watch_for_its_own) {
  termination.watch();
  const int status = status_of([] {
    Ear own;
    own.termination.watch();
    raise(SIGTERM);
    _exit(own.listen() == 1 ? 7 : 8);
  });
  BOOST_TEST(WEXITSTATUS(status) == 7);
  BOOST_TEST(listen() == 0);
}

BOOST_AUTO_TEST_CASE(one_that_nobody_has_heard_is_not_lost) {
  const int status = status_of([this] {
    termination.watch();
    raise(SIGTERM);
    termination.leave();
  });
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
}

BOOST_AUTO_TEST_CASE(the_process_may_be_told_to_end_at_the_next_one) {
  const int status = status_of([this] {
    termination.watch();
    termination.end_at_next();
    raise(SIGTERM);
  });
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == terminated_status));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
