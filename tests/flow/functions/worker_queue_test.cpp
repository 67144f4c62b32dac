#include "flow/functions/worker_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <future>

namespace headway::flow {
namespace {

/// A pool's part in waiting.
struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  WorkerQueue queue{changed};
  bool is_free = false;

  /// A call of an item.
  bool await(ItemTurn& turn, StepWait wait, const std::function<void(bool)>& on_wait = {}) {
    ItemTurn::current() = &turn;
    std::unique_lock lock(mutex);
    const bool goes = queue.await(lock, wait, [this] { return is_free; }, on_wait);
    ItemTurn::current() = nullptr;
    return goes;
  }

  void free_worker() {
    const std::lock_guard lock(mutex);
    is_free = true;
    changed.notify_all();
  }
};

BOOST_AUTO_TEST_SUITE(calls_that_need_a_worker)

BOOST_AUTO_TEST_CASE(go_on_at_once_where_one_is_free) {
  Pool pool;
  pool.free_worker();
  ItemTurn turn;
  for (const StepWait wait : {StepWait::until_there, StepWait::unless_in_the_way, StepWait::not_at_all}) {
    BOOST_TEST(pool.await(turn, wait));
  }
}

BOOST_AUTO_TEST_CASE(do_not_wait_where_they_may_not) {
  Pool pool;
  ItemTurn turn;
  BOOST_TEST(!pool.await(turn, StepWait::not_at_all));
}

BOOST_AUTO_TEST_CASE(wait_for_one_while_nobody_needs_what_their_item_holds) {
  for (const StepWait wait : {StepWait::until_there, StepWait::unless_in_the_way}) {
    Pool pool;
    ItemTurn turn;
    turn.is_in_the_way = [] { return false; };
    std::promise<void> waits;
    auto goes = std::async(std::launch::async, [&] {
      return pool.await(turn, wait, [&](bool begins) {
        if (begins) waits.set_value();
      });
    });
    waits.get_future().wait();
    pool.free_worker();
    BOOST_TEST(goes.get());
  }
}

BOOST_AUTO_TEST_CASE(wait_no_longer_when_their_item_gets_in_the_way) {
  Pool pool;
  ItemTurn turn;
  std::atomic<bool> is_in_the_way = false;
  turn.is_in_the_way = [&] { return is_in_the_way.load(); };
  std::promise<void> waits;
  auto goes = std::async(std::launch::async, [&] {
    return pool.await(turn, StepWait::unless_in_the_way, [&](bool begins) {
      if (begins) waits.set_value();
    });
  });
  waits.get_future().wait();
  is_in_the_way = true;
  BOOST_TEST(!goes.get());
}

/// An item that holds a worker of the same pool is in its own way, once its rows are awaited.
BOOST_AUTO_TEST_CASE(of_an_item_that_has_one_of_the_same_pool_do_not_wait_for_themselves) {
  Pool pool;
  ItemTurn turn;
  turn.awaited = true;
  turn.is_in_the_way = [&] {
    const std::lock_guard lock(pool.mutex);
    return pool.queue.has_awaited();
  };
  BOOST_TEST(!pool.await(turn, StepWait::unless_in_the_way));
}

BOOST_AUTO_TEST_CASE(give_way_to_one_whose_rows_are_awaited) {
  Pool pool;
  ItemTurn first;
  first.awaited = true;
  ItemTurn other;
  std::promise<void> waits;
  auto goes = std::async(std::launch::async, [&] {
    return pool.await(first, StepWait::until_there, [&](bool begins) {
      if (begins) waits.set_value();
    });
  });
  waits.get_future().wait();
  {
    const std::lock_guard lock(pool.mutex);
    BOOST_TEST(pool.queue.has_awaited());
    BOOST_TEST(pool.queue.gives_way(&other));
    BOOST_TEST(!pool.queue.gives_way(&first));
  }
  pool.free_worker();
  BOOST_TEST(goes.get());
  const std::lock_guard lock(pool.mutex);
  BOOST_TEST(!pool.queue.gives_way(&other));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace headway::flow
