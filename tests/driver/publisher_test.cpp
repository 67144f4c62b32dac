#include "driver/publisher.hpp"

#include <boost/test/unit_test.hpp>

#include <thread>

/// What those who look at a driver see, and what they cost it.
namespace headway::driver {

namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

std::shared_ptr<const RunStatus> status_of(std::int64_t run_id) {
  RunStatus status;
  status.run_id = run_id;
  return std::make_shared<const RunStatus>(std::move(status));
}

struct Watched {
  std::shared_ptr<Watch> watch() {
    auto made = publisher.watch();
    BOOST_REQUIRE(made.has_value());
    return *made;
  }
  /// All that can be done without waiting.
  void settle() {
    loop.restart();
    loop.poll();
  }
  /// Until nothing is left to wait for.
  void run() {
    loop.restart();
    loop.run();
  }

  asio::io_context loop{1};
  int looks = 0;
  std::vector<std::shared_ptr<const RunStatus>> at_work;
  Publisher publisher{loop, [this](Snapshot& snapshot) {
                        ++looks;
                        snapshot.runs.insert(snapshot.runs.end(), at_work.begin(), at_work.end());
                      }};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(publisher_suite, Watched)

BOOST_AUTO_TEST_CASE(nothing_is_looked_at_while_nobody_watches) {
  for (int event = 0; event < 1000; ++event) publisher.changed();
  publisher.run_ended(status_of(1));
  run();
  BOOST_TEST(looks == 0);
  watch().reset();
  run();
  const int before = looks;
  publisher.changed();
  run();
  BOOST_TEST(looks == before);
}

BOOST_AUTO_TEST_CASE(a_watch_begins_with_a_snapshot_that_is_not_older_than_itself) {
  at_work.push_back(status_of(1));
  const auto first = watch();
  BOOST_TEST(first->latest() == nullptr);
  settle();
  BOOST_REQUIRE(first->latest() != nullptr);
  BOOST_TEST(first->latest()->runs.size() == 1U);
  at_work.push_back(status_of(2));
  const auto second = watch();
  BOOST_TEST(second->latest() == nullptr);
  run();
  BOOST_TEST(second->latest()->runs.size() == 2U);
  BOOST_TEST(first->next(milliseconds(0)) == second->next(milliseconds(0)));
  BOOST_TEST(first->next(milliseconds(0)) == nullptr);
}

BOOST_AUTO_TEST_CASE(many_changes_are_one_snapshot_in_a_quarter_of_a_second) {
  const auto look = watch();
  settle();
  const auto begun = std::chrono::steady_clock::now();
  for (int event = 0; event < 1000; ++event) {
    publisher.changed();
    settle();
  }
  const auto took = std::chrono::steady_clock::now() - begun;
  run();
  BOOST_TEST(looks <= 2 + took / milliseconds(250));
  BOOST_TEST(looks >= 2);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_is_shown_at_once_and_kept) {
  const auto look = watch();
  settle();
  at_work.push_back(status_of(200));
  for (std::int64_t run_id = 1; run_id <= 100; ++run_id) publisher.run_ended(status_of(run_id));
  settle();
  const auto snapshot = look->latest();
  BOOST_TEST(snapshot->number == 2);
  BOOST_REQUIRE(snapshot->runs.size() == 65U);
  BOOST_TEST(snapshot->runs.front()->run_id == 37);
  BOOST_TEST(snapshot->runs.back()->run_id == 200);
}

BOOST_AUTO_TEST_CASE(there_is_a_bound_on_watches) {
  std::vector<std::shared_ptr<Watch>> all;
  for (int i = 0; i < SnapshotBoard::watchers_max; ++i) all.push_back(watch());
  BOOST_TEST((publisher.watch().error().kind == ErrorKind::unavailable));
  all.pop_back();
  BOOST_TEST(publisher.watch().has_value());
}

BOOST_AUTO_TEST_CASE(who_waits_is_woken_when_the_driver_ends_and_may_keep_what_it_has) {
  const auto look = watch();
  settle();
  const auto kept = look->next(milliseconds(0));
  std::shared_ptr<const Snapshot> last;
  std::shared_ptr<const Snapshot> none = kept;
  std::thread watcher([&] {
    last = look->next(std::chrono::hours(1));
    none = look->next(std::chrono::hours(1));
  });
  publisher.close();
  watcher.join();
  BOOST_REQUIRE(last != nullptr);
  BOOST_TEST(last->number == kept->number + 1);
  BOOST_TEST(none == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
