#include "data/exact_order.hpp"
#include "data/epoch_order.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace headway::data {
namespace {

std::vector<std::uint32_t> order_of(std::uint64_t start, std::size_t rows) {
  std::vector<std::uint32_t> order(rows);
  exact_order(start, order);
  return order;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exact_order_suite)

BOOST_AUTO_TEST_CASE(keys_are_those_of_splitmix64) {
  // The first values of the generator with the seed 1234567.
  BOOST_TEST(row_key(1234567, 0) == 6457827717110365317U);
  BOOST_TEST(row_key(1234567, 1) == 3203168211198807973U);
  BOOST_TEST(row_key(1234567, 2) == 9817491932198370423U);
}

BOOST_AUTO_TEST_CASE(rows_come_in_the_order_of_their_keys) {
  for (const std::size_t rows : {0U, 1U, 2U, 7U, 8U, 17U, 1000U, 50'000U}) {
    const std::uint64_t start = key_start(3, 1);
    std::vector<std::uint32_t> sorted(rows);
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::ranges::sort(sorted, {}, [&](std::uint32_t row) { return row_key(start, row); });
    BOOST_TEST((order_of(start, rows) == sorted));
  }
}

BOOST_AUTO_TEST_CASE(rows_before_come_in_the_same_order_however_many_follow) {
  std::vector<std::uint32_t> longer = order_of(key_start(5, 0), 3000);
  std::erase_if(longer, [](std::uint32_t row) { return row >= 1000; });
  BOOST_TEST((order_of(key_start(5, 0), 1000) == longer));
}

BOOST_AUTO_TEST_CASE(each_seed_epoch_window_and_lane_has_another_order) {
  const std::set<std::uint64_t> starts = {key_start(1, 0), key_start(2, 0), key_start(1, 1), key_start(1, 0, 1),
                                          key_start(1, 0, 0, 1)};
  BOOST_TEST(starts.size() == 5U);
}

BOOST_AUTO_TEST_CASE(a_window_of_the_whole_epoch_is_in_this_order) {
  OrderConfig config;
  config.seed = 9;
  config.epoch = 2;
  config.permutes_units = config.permutes_rows = true;
  config.window_bytes = whole_epoch;
  const EpochOrder order(config, std::vector<UnitSize>{{30, 240}, {20, 160}});
  std::vector<std::uint32_t> rows;
  order.row_order(0, 50, rows);
  BOOST_TEST((rows == order_of(key_start(9, 2), 50)));
}

/// Chi-squared over the 24 orders, which have equal chances.
BOOST_AUTO_TEST_CASE(orders_of_four_rows_are_about_equally_frequent) {
  std::vector<int> counts(256);
  constexpr int draws = 24'000;
  for (std::uint32_t epoch = 0; epoch < draws; ++epoch) {
    const auto order = order_of(key_start(11, epoch), 4);
    ++counts[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]];
  }
  double chi_squared = 0;
  int orders = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  BOOST_TEST(orders == 24);
  // The 99.9th percentile of 23 degrees of freedom is 49.7. The draws are always the same.
  BOOST_TEST(chi_squared < 49.7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
