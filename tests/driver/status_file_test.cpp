#include "driver/status_file.hpp"

#include <boost/test/unit_test.hpp>

/// When status.json is written, and when it is not.
namespace headway::driver {

namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

struct Written {
  explicit Written(milliseconds pause = milliseconds(0))
      : file(loop, pause, [this](std::function<void()> done) {
          ++writes;
          under_way = std::move(done);
        }) {}
  /// Until nothing is left to wait for, not even a timer.
  void run() {
    loop.restart();
    loop.run();
  }
  void finish_write() {
    BOOST_REQUIRE(under_way);
    std::exchange(under_way, nullptr)();
  }

  asio::io_context loop{1};
  int writes = 0;
  std::function<void()> under_way;
  StatusFile file;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(status_file_suite)

BOOST_AUTO_TEST_CASE(a_run_that_does_not_change_is_not_written_and_has_no_timer) {
  Written written;
  written.run();
  BOOST_TEST(written.writes == 0);
  written.file.changed();
  written.run();
  BOOST_TEST(written.writes == 1);
  written.finish_write();
  written.run();
  BOOST_TEST(written.writes == 1);
}

BOOST_AUTO_TEST_CASE(what_changes_during_a_write_is_written_after_it_once) {
  Written written;
  written.file.changed();
  written.run();
  for (int event = 0; event < 1000; ++event) written.file.changed();
  written.run();
  BOOST_TEST(written.writes == 1, "one write at a time");
  written.finish_write();
  written.run();
  BOOST_TEST(written.writes == 2);
  written.finish_write();
  written.run();
  BOOST_TEST(written.writes == 2);
}

BOOST_AUTO_TEST_CASE(the_first_change_is_written_at_once_and_many_that_follow_after_a_pause) {
  Written written(std::chrono::hours(24 * 365));  // Longer than the machine has been up.
  written.file.changed();
  written.run();
  BOOST_TEST(written.writes == 1);
  written.finish_write();
  for (int event = 0; event < 1000; ++event) written.file.changed();
  written.loop.restart();
  written.loop.poll();
  BOOST_TEST(written.writes == 1);
  BOOST_TEST(!written.loop.stopped(), "its timer runs");
}

BOOST_AUTO_TEST_CASE(nothing_is_written_once_it_is_closed) {
  Written written;
  written.file.changed();
  written.file.close();
  written.file.changed();
  written.run();
  BOOST_TEST(written.writes == 0);
}

BOOST_AUTO_TEST_CASE(a_write_may_end_after_the_run_has_gone) {
  std::function<void()> late;
  {
    Written written;
    written.file.changed();
    written.run();
    late = std::move(written.under_way);
  }
  late();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
