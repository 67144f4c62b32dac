#include "driver/front_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>

/// What happens on the driver's loop and how the serving thread hears of it.
namespace headway::driver {
namespace {

bool is_readable(const FrontQueue& queue) {
  pollfd watched{queue.event_fd(), POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

std::vector<FrontEvent> take(FrontQueue& queue) {
  bool was_full = false;
  return queue.take(was_full);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(front_queue_suite)

BOOST_AUTO_TEST_CASE(events_come_in_the_order_in_which_they_were_pushed) {
  FrontQueue queue;
  queue.push(Notice{"a"});
  queue.push_line(3, "b");
  queue.push_line("validation of checkpoint_000001", "c");
  BOOST_TEST(is_readable(queue));
  const std::vector<FrontEvent> events = take(queue);
  BOOST_REQUIRE(events.size() == 3);
  BOOST_TEST(std::get<Notice>(events[0]).text == "a");
  BOOST_TEST(std::get<RankLine>(events[1]).rank == 3);
  BOOST_TEST(*std::get<RankLine>(events[1]).line == "b");
  BOOST_TEST(std::get<HelperLine>(events[2]).helper == "validation of checkpoint_000001");
  BOOST_TEST(!is_readable(queue));
}

BOOST_AUTO_TEST_CASE(a_report_waits_for_the_next_wake_and_old_ones_are_dropped) {
  FrontQueue queue;
  queue.wake();
  BOOST_TEST(!is_readable(queue));
  for (int i = 0; i < 100; ++i) queue.push_report({{"training_iteration", i}});
  BOOST_TEST(!is_readable(queue));
  queue.wake();
  BOOST_TEST(is_readable(queue));
  const std::vector<FrontEvent> events = take(queue);
  BOOST_TEST(events.size() == 64);
  BOOST_TEST(std::get<ReportRecorded>(events.back()).line.at("training_iteration").as_int64() == 99);
}

BOOST_AUTO_TEST_CASE(remarks_that_nobody_takes_are_left_out_and_counted_where_they_would_stand) {
  FrontQueue queue;
  for (int i = 0; i < 600; ++i) {
    queue.push(Notice{"n"});
    queue.push(RunWarning{"w"});
  }
  queue.push(Finished{});
  const std::vector<FrontEvent> events = take(queue);
  BOOST_REQUIRE(events.size() == 1002);
  BOOST_TEST(std::get<RunWarning>(events[1000]).text ==
             "200 more notices and warnings came faster than they could be shown, and are left out");
  BOOST_TEST(std::holds_alternative<Finished>(events[1001]));
  queue.push(Notice{"again"});
  BOOST_TEST(take(queue).size() == 1);
}

BOOST_AUTO_TEST_CASE(lines_make_the_writer_wait_once_there_are_too_many) {
  FrontQueue queue;
  const std::string line(1 << 18, 'x');
  int taken = 0;
  while (queue.push_line(0, line)) ++taken;
  BOOST_TEST(taken < 5);
  bool was_full = false;
  (void)queue.take(was_full);
  BOOST_TEST(was_full);
  BOOST_TEST(queue.push_line(0, line));
}

BOOST_AUTO_TEST_CASE(whoever_wants_to_be_called_is_called_once_for_what_can_be_taken) {
  int calls = 0;
  FrontQueue queue([&] { ++calls; });
  queue.push(Notice{"a"});
  queue.push(Notice{"b"});
  BOOST_TEST(calls == 1);
  BOOST_TEST(!is_readable(queue));
  BOOST_TEST(take(queue).size() == 2U);
  queue.push(Notice{"c"});
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
