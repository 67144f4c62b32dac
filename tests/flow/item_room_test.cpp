#include "items.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

StepCalls few_that_make_much() { return {1, 5000, 5000}; }

BOOST_AUTO_TEST_SUITE(room_of_items)

BOOST_AUTO_TEST_CASE(an_item_behind_the_first_one_calls_a_step_with_few_workers_when_its_rows_have_room) {
  struct Asked {
    StepCalls calls;
    bool has_room_behind;
  };
  const std::vector<Asked> asked = {
      {{1, -1}, false},        // Nobody knows what a call makes.
      {{1, 100}, true},        //
      {{1, 5000}, false},      // More than the budget has.
      {{3, 5000, -1}, false},  // Each of three threads has a worker; large rows may come.
      {{3, 5000, 0}, true},    //
      {{3, 5000, 5000}, true},
  };
  for (const Asked& each : asked) {
    Budget budget(1000);
    std::promise<bool> behind;
    ParallelStage stage(budget, three_threads, nullptr, items(2, [&](int number, const ItemSink& sink) {
                          if (number == 0) BOOST_TEST((behind.get_future().get() == each.has_room_behind));
                          const bool has_room =
                              ItemTurn::current()->await_room([&] { return each.calls; }, StepWait::not_at_all);
                          if (number == 0) BOOST_TEST(has_room);
                          if (number == 1) behind.set_value(has_room);
                          return sink(row_of(number));
                        }));
    BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(large_rows_are_made_at_once_as_far_as_the_budget_has_room_for_two_of_each) {
  for (const auto& [budget_bytes, has_room_behind] : {std::pair{4 * Budget::large, true}, {3 * Budget::large, false}}) {
    Budget budget(budget_bytes);
    std::promise<void> first;
    std::promise<bool> behind;
    const auto calls = [] { return StepCalls{3, Budget::large, Budget::large}; };
    ParallelStage stage(budget, three_threads, nullptr, items(2, [&](int number, const ItemSink& sink) {
                          if (number == 1) first.get_future().wait();
                          const StepWait wait = number == 0 ? StepWait::until_there : StepWait::not_at_all;
                          const bool has_room = ItemTurn::current()->await_room(calls, wait);
                          if (number == 1) {
                            behind.set_value(has_room);
                          } else {
                            first.set_value();
                            BOOST_TEST((behind.get_future().get() == has_room_behind));
                          }
                          return sink(row_of(number));
                        }));
    BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(items_wait_to_know_how_large_rows_are_but_not_for_a_slow_first_call) {
  Budget budget(1000);
  std::atomic<std::int64_t> largest = -1;
  std::promise<void> second;
  const auto calls = [&] { return StepCalls{3, -1, largest}; };
  ParallelLimits limits = three_threads;
  limits.sizes_wait = std::chrono::milliseconds(50);
  ParallelStage stage(budget, limits, nullptr, items(3, [&](int number, const ItemSink& sink) {
                        BOOST_TEST(ItemTurn::current()->await_room(calls, StepWait::until_there));
                        if (number == 0) second.get_future().wait();
                        if (number == 1) {
                          largest = 100;
                          second.set_value();
                        }
                        return sink(row_of(number));
                      }));
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_item_that_waits_for_room_has_it_when_it_is_the_first_one) {
  Budget budget(1000);
  ParallelStage stage(budget, three_threads, nullptr, items(3, [&](int number, const ItemSink& sink) {
                        BOOST_TEST(ItemTurn::current()->await_room(&few_that_make_much, StepWait::until_there));
                        return sink(row_of(number));
                      }));
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_item_that_holds_what_the_first_one_needs_does_not_wait_for_room) {
  Budget budget(1000);
  std::promise<void> let_go;
  ParallelStage stage(budget, three_threads, nullptr, items(2, [&](int number, const ItemSink& sink) {
                        if (number == 0) {
                          let_go.get_future().wait();
                          return sink(row_of(number));
                        }
                        const ItemHolds holds([] { return true; });
                        BOOST_TEST(!ItemTurn::current()->await_room(&few_that_make_much, StepWait::unless_in_the_way));
                        let_go.set_value();
                        return sink(row_of(number));
                      }));
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace headway::flow
