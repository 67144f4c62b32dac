#include "flow/parallel_stage.hpp"
#include "items.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace headway::flow {
namespace {

BOOST_AUTO_TEST_SUITE(parallel_stages)

BOOST_AUTO_TEST_CASE(rows_come_in_the_order_of_items_though_later_ones_are_ready_first) {
  Budget budget(1000);
  std::promise<void> second_done;
  const auto waits = second_done.get_future().share();
  ParallelStage stage(budget, three_threads, nullptr, items(5, [&](int number, const ItemSink& sink) {
                        if (number == 0) waits.wait();
                        ARROW_RETURN_NOT_OK(sink(row_of(number)));
                        if (number == 1) second_done.set_value();
                        return arrow::Status::OK();
                      }));
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(budget.taken() == 0);
}

BOOST_AUTO_TEST_CASE(a_demand_that_comes_while_an_item_is_worked_on_begins_the_others) {
  Budget budget(1000);
  const auto demand = std::make_shared<Demand>(false);
  ParallelLimits limits = three_threads;
  limits.demand = demand;
  std::promise<void> first_began;
  std::promise<void> second_began;
  ParallelStage stage(budget, limits, nullptr, items(2, [&](int number, const ItemSink& sink) {
                        (number == 0 ? first_began : second_began).set_value();
                        // The first item cannot be done before the second one has begun.
                        if (number == 0) second_began.get_future().wait();
                        return sink(row_of(number));
                      }));
  std::thread client([&] {
    first_began.get_future().wait();
    demand->come();
  });
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1}), boost::test_tools::per_element());
  client.join();
}

BOOST_AUTO_TEST_CASE(a_thread_without_work_is_told_while_the_last_item_is_worked_on) {
  Budget budget(1000);
  ParallelLimits limits{2, 6};
  std::promise<void> told;
  limits.on_idle = [&] { told.set_value(); };
  ParallelStage stage(budget, limits, nullptr, items(2, [&](int number, const ItemSink& sink) {
                        if (number == 1) told.get_future().wait();
                        return sink(row_of(number));
                      }));
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(before_a_demand_the_only_item_is_known_to_be_the_last) {
  for (const int count : {1, 2}) {
    Budget budget(1000);
    std::promise<void> told;
    std::future<void> is_told = told.get_future();
    ParallelLimits limits = three_threads;
    limits.demand = std::make_shared<Demand>(false);
    limits.on_idle = [&] { told.set_value(); };
    {
      ParallelStage stage(budget, limits, nullptr,
                          items(count, [](int number, const ItemSink& sink) { return sink(row_of(number)); }));
      BOOST_TEST(value_of(*stage.next().ValueOrDie()->rows) == 0);
      // The row may come before the thread that made it is done with the item.
      if (count == 1) BOOST_TEST((is_told.wait_for(std::chrono::minutes(1)) == std::future_status::ready));
    }
    if (count == 2) BOOST_TEST((is_told.wait_for(std::chrono::seconds(0)) == std::future_status::timeout));
  }
}

BOOST_AUTO_TEST_CASE(without_credit_one_item_is_under_way_all_the_same) {
  Budget budget(50);
  ParallelStage stage(budget, three_threads, nullptr,
                      items(4, [](int number, const ItemSink& sink) { return sink(row_of(number)); }));
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1, 2, 3}), boost::test_tools::per_element());
  // Never two of them.
  BOOST_TEST(budget.peak() == 100);
}

BOOST_AUTO_TEST_CASE(while_memory_is_full_nothing_begins_before_a_client_needs_it) {
  Budget budget(150);
  int needs = 0;
  ParallelLimits limits = three_threads;
  limits.demand = std::make_shared<Demand>(true);
  limits.demand->set_wait_for_need([&] { ++needs; });
  ParallelStage stage(budget, limits, nullptr,
                      items(4, [](int number, const ItemSink& sink) { return sink(row_of(number)); }));
  const Credit slots = budget.take(100);  // What was dealt.
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(needs == 4);
}

BOOST_AUTO_TEST_CASE(while_memory_is_full_an_item_makes_no_rows_before_those_that_it_made_are_used) {
  Budget budget(150);
  std::atomic<int> used = 0;
  std::vector<int> used_before;
  ParallelStage stage(budget, three_threads, nullptr, items(1, [&](int, const ItemSink& sink) {
                        for (int row = 0; row < 4; ++row) {
                          used_before.push_back(used);
                          ARROW_RETURN_NOT_OK(sink(row_of(row)));
                        }
                        return arrow::Status::OK();
                      }));
  const Credit slots = budget.take(100);  // What was dealt.
  while (const auto chunk = stage.next().ValueOrDie()) {
    if (chunk->rows) ++used;
  }
  BOOST_TEST(used_before == (std::vector<int>{0, 1, 2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(items_that_make_more_than_was_thought_have_credit_for_it_or_wait) {
  constexpr std::int64_t made_bytes = 40'000;
  Budget budget(100'000);
  ParallelStage stage(budget, three_threads, nullptr, items(20, [](int number, const ItemSink& sink) {
                        const auto row = row_of(number);
                        const auto many = arrow::MakeArrayFromScalar(arrow::Int32Scalar(number), made_bytes / 4);
                        return sink(arrow::RecordBatch::Make(row->schema(), made_bytes / 4, {many.ValueOrDie()}));
                      }));
  int next = 0;
  while (true) {
    const auto chunk = stage.next().ValueOrDie();
    if (!chunk) break;
    if (!chunk->rows) continue;
    BOOST_TEST(value_of(*chunk->rows) == next++);
    BOOST_TEST(budget.taken() >= made_bytes);
  }
  BOOST_TEST(next == 20);
  BOOST_TEST(budget.taken() == 0);
  // The first one never waits, nor did the one before it, whose rows are in hand here; the others
  // stay within the budget.
  BOOST_TEST(budget.peak() <= budget.bytes() + 2 * made_bytes);
}

BOOST_AUTO_TEST_CASE(before_it_is_wanted_one_item_at_a_time_is_under_way) {
  Budget budget(1000);
  ParallelLimits limits = three_threads;
  limits.demand = std::make_shared<Demand>(false);
  ParallelStage stage(budget, limits, nullptr,
                      items(5, [](int number, const ItemSink& sink) { return sink(row_of(number)); }));
  for (int number = 0; number < 2; ++number) {
    auto chunk = stage.next().ValueOrDie();
    while (!chunk->rows) chunk = stage.next().ValueOrDie();
    BOOST_TEST(value_of(*chunk->rows) == number);
  }
  BOOST_TEST(budget.peak() <= 200);  // Beside the one under way the chunk in hand.
  limits.demand->come();
  const auto third = stage.next().ValueOrDie();
  BOOST_TEST(budget.peak() >= 300);
  std::vector<int> rest = values_of(stage);
  if (third->rows) rest.insert(rest.begin(), value_of(*third->rows));
  BOOST_TEST(rest == (std::vector<int>{2, 3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(it_tells_once_that_no_item_is_left_before_their_rows_are_taken) {
  Budget budget(1000);
  std::promise<void> worked;
  ParallelLimits limits = three_threads;
  limits.on_idle = [&] { worked.set_value(); };  // A second call would throw.
  ParallelStage stage(budget, limits, nullptr,
                      items(3, [](int number, const ItemSink& sink) { return sink(row_of(number)); }));
  const auto first = stage.next().ValueOrDie();
  worked.get_future().wait();
  BOOST_TEST(value_of(*first->rows) == 0);
  BOOST_TEST(values_of(stage) == (std::vector<int>{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(after_a_failure_it_does_not_tell_that_no_item_is_left) {
  Budget budget(1000);
  std::atomic<bool> told = false;
  ParallelLimits limits = three_threads;
  limits.on_idle = [&] { told = true; };
  {
    ParallelStage stage(budget, limits, nullptr,
                        items(1, [](int, const ItemSink&) { return arrow::Status::Invalid("bad"); }));
    BOOST_TEST(!stage.next().ok());
  }
  BOOST_TEST(!told);
}

BOOST_AUTO_TEST_CASE(a_failure_comes_after_the_rows_before_it_and_names_its_item) {
  Budget budget(1000);
  ParallelStage stage(budget, three_threads, nullptr, items(3, [](int number, const ItemSink& sink) {
                        return number == 1 ? arrow::Status::Invalid("bad") : sink(row_of(number));
                      }));
  arrow::Result<std::optional<Chunk>> chunk = stage.next();
  int rows = 0;
  while (chunk.ok()) {
    if ((*chunk)->rows) ++rows;
    chunk = stage.next();
  }
  BOOST_TEST(rows == 1);
  BOOST_TEST(chunk.status().message() == "item 1: bad");
}

BOOST_AUTO_TEST_CASE(an_exception_is_a_failure) {
  Budget budget(1000);
  ParallelStage stage(budget, three_threads, nullptr,
                      items(1, [](int, const ItemSink&) -> arrow::Status { throw std::runtime_error("thrown"); }));
  BOOST_TEST(stage.next().status().message() == "item 0: thrown");
}

BOOST_AUTO_TEST_CASE(an_item_that_is_in_the_way_of_the_first_one_makes_the_rest_of_its_rows) {
  constexpr std::int64_t rows = 1 << 20;
  Budget budget(1 << 20);
  std::promise<void> second_done;
  std::atomic<bool> first_waits = false;
  ParallelStage stage(budget, three_threads, nullptr, items(2, [&](int number, const ItemSink& sink) {
                        const auto row = row_of(number);
                        if (number == 0) {
                          while (!ItemTurn::current()->awaited) std::this_thread::yield();
                          first_waits = true;
                          second_done.get_future().wait();
                          return sink(row);
                        }
                        const ItemHolds holds([&] { return first_waits.load(); });
                        const auto many = arrow::MakeArrayFromScalar(arrow::Int32Scalar(number), rows).ValueOrDie();
                        for (int i = 0; i < 3; ++i)
                          ARROW_RETURN_NOT_OK(sink(arrow::RecordBatch::Make(row->schema(), rows, {many})));
                        second_done.set_value();
                        return arrow::Status::OK();
                      }));
  BOOST_TEST(values_of(stage) == (std::vector<int>{0, 1, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(budget.taken() == 0);
}

BOOST_AUTO_TEST_CASE(while_memory_is_full_no_item_that_holds_rows_is_asked_for_behind_a_large_one) {
  struct Asked {
    bool hold_rows;
    std::int64_t bytes;
    int at_first;
  };
  for (const Asked& each : {Asked{true, Budget::large, 1}, {true, Budget::large - 1, 4}, {false, Budget::large, 4}}) {
    ParallelLimits limits = three_threads;
    limits.items_hold_rows = each.hold_rows;
    Budget budget(3 * Budget::large + 100);
    Credit others = budget.take(2 * Budget::large);
    int asked = 0;
    ParallelStage stage(budget, limits, nullptr, [&]() -> arrow::Result<std::optional<Item>> {
      if (asked == 4) return std::nullopt;
      Item item;
      item.bytes = asked == 0 ? each.bytes : 10;
      item.work = [number = asked++](const ItemSink& sink) { return sink(row_of(number)); };
      return item;
    });
    BOOST_TEST(stage.next().ValueOrDie().has_value());
    BOOST_TEST(asked == each.at_first);
    others.give_back();
    BOOST_TEST(values_of(stage) == (std::vector<int>{1, 2, 3}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_stop_ends_a_wait) {
  Budget budget(1000);
  std::promise<void> begun;
  std::promise<void> stopped;
  const auto ends = stopped.get_future().share();
  ParallelStage stage(budget, three_threads, nullptr,
                      items(1,
                            [&](int, const ItemSink&) {
                              begun.set_value();
                              ends.wait();
                              return arrow::Status::OK();
                            }),
                      [&, told = false]() mutable {
                        if (!std::exchange(told, true)) stopped.set_value();
                      });
  auto next = std::async(std::launch::async, [&] { return stage.next().status().IsCancelled(); });
  begun.get_future().wait();
  stage.stop();
  BOOST_TEST(next.get());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace headway::flow
