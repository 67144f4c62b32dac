#include "wire/thread_pool.hpp"

#include "threads_left.hpp"

#include <boost/asio.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>

namespace headway::wire {

BOOST_AUTO_TEST_SUITE(thread_pool_suite)

// They need memory for each thread.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
BOOST_AUTO_TEST_CASE(the_threads_that_the_system_gives_do_the_work) {
  const ThreadsLeft left(2);
  const auto pool = ThreadPool::start(8).value();
  BOOST_TEST(pool->size() >= 1U);
  BOOST_TEST(pool->size() < 8U);
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) boost::asio::post(*pool, [&] { ++done; });
  pool->join();
  BOOST_TEST(done == 100);
}

BOOST_AUTO_TEST_CASE(without_any_thread_the_error_names_the_limits) {
  const ThreadsLeft left(0);
  const auto pool = ThreadPool::start(4);
  BOOST_REQUIRE(!pool);
  BOOST_TEST((pool.error().kind == ErrorKind::unavailable));
  BOOST_TEST(pool.error().message ==
             "cannot start a thread: Resource temporarily unavailable "
             "(the limits that count: ulimit -u, ulimit -v, and the container's number of processes)");
}
#endif

BOOST_AUTO_TEST_CASE(what_has_not_begun_is_dropped_with_the_pool) {
  auto pool = ThreadPool::start(1).value();
  std::atomic<bool> begun = false;
  std::atomic<bool> free = false;
  std::atomic<int> done = 0;
  boost::asio::post(*pool, [&] {
    begun = true;
    begun.notify_all();
    free.wait(false);
    ++done;
  });
  begun.wait(false);
  boost::asio::post(*pool, [&] { ++done; });
  pool->stop();
  free = true;
  free.notify_all();
  pool.reset();
  BOOST_TEST(done == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::wire
