#include "data/epoch_order.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace headway::data {

using Rows = std::vector<std::pair<std::uint32_t, std::int64_t>>;  ///< Unit and row in it.

const std::vector<UnitSize> mixed_units = {{100, 800}, {0, 0}, {7, 56}, {250, 2000}, {31, 248}, {1, 8}, {64, 512}};

/// The rows of a lane in the order in which they come.
Rows rows_of(const EpochOrder& order, int lane) {
  Rows rows;
  std::vector<std::uint32_t> permutation;
  for (std::uint32_t window = order.first_window(lane); window < order.end_window(lane); ++window) {
    Rows unshuffled;
    for (const UnitPart& part : order.parts_of(window)) {
      for (std::int64_t row = part.begin; row < part.end; ++row) unshuffled.emplace_back(part.unit, row);
    }
    order.row_order(window, order.windows()[window].rows, permutation);
    for (const std::uint32_t place : permutation) rows.push_back(unshuffled.at(place));
  }
  return rows;
}

Rows all_rows(const EpochOrder& order) {
  Rows all;
  for (int lane = 0; lane < order.lanes(); ++lane) {
    const Rows rows = rows_of(order, lane);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

OrderConfig shuffling(std::uint64_t seed, std::uint32_t epoch, int lanes) {
  return {seed, epoch, true, true, 1000, lanes};
}

BOOST_AUTO_TEST_SUITE(epoch_order_suite)

BOOST_AUTO_TEST_CASE(each_row_comes_once_whatever_the_lanes_and_the_order) {
  Rows expected;
  for (std::uint32_t unit = 0; unit < mixed_units.size(); ++unit) {
    for (std::int64_t row = 0; row < mixed_units[unit].rows; ++row) expected.emplace_back(unit, row);
  }
  for (const int lanes : {1, 2, 4, 6, 24}) {
    Rows rows = all_rows(EpochOrder(shuffling(5, 1, lanes), mixed_units));
    BOOST_TEST((rows != expected));
    std::ranges::sort(rows);
    BOOST_TEST((rows == expected));
  }
  BOOST_TEST((all_rows(EpochOrder({}, mixed_units)) == expected));
}

BOOST_AUTO_TEST_CASE(the_order_is_another_one_in_each_epoch_and_for_each_seed) {
  const Rows rows = all_rows(EpochOrder(shuffling(5, 1, 1), mixed_units));
  BOOST_TEST((rows == all_rows(EpochOrder(shuffling(5, 1, 1), mixed_units))));
  BOOST_TEST((rows != all_rows(EpochOrder(shuffling(5, 2, 1), mixed_units))));
  BOOST_TEST((rows != all_rows(EpochOrder(shuffling(6, 1, 1), mixed_units))));
}

BOOST_AUTO_TEST_CASE(lanes_have_equal_rows_and_take_turns) {
  const EpochOrder order(shuffling(5, 1, 4), mixed_units);
  BOOST_TEST(order.rows() == 453);
  std::vector<std::int64_t> sizes;
  for (int lane = 0; lane < 4; ++lane) sizes.push_back(static_cast<std::int64_t>(rows_of(order, lane).size()));
  BOOST_TEST(sizes == (std::vector<std::int64_t>{114, 113, 113, 113}), boost::test_tools::per_element());
  for (std::int64_t rows = 0; rows < 50; ++rows) {
    for (int lane = 0; lane < 4; ++lane) {
      const bool is_next = rows % 4 == lane;
      BOOST_TEST(rows_of_lane(rows + 1, lane, 4) - rows_of_lane(rows, lane, 4) == (is_next ? 1 : 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(windows_keep_to_their_bytes_and_a_larger_unit_is_a_window_alone) {
  const EpochOrder order(shuffling(5, 1, 1), mixed_units);
  BOOST_TEST(order.windows().size() < mixed_units.size() - 1);
  for (std::uint32_t window = 0; window < order.windows().size(); ++window) {
    const Window& each = order.windows()[window];
    BOOST_TEST((each.bytes <= 1000 || each.part_count == 1));
    BOOST_TEST(order.window_at(0, each.begin) == window);
    BOOST_TEST(order.window_at(0, each.begin + each.rows - 1) == window);
  }
}

BOOST_AUTO_TEST_CASE(units_whose_rows_are_not_known_are_one_lane) {
  std::vector<UnitSize> units = mixed_units;
  units[3].rows = -1;
  const EpochOrder order(shuffling(5, 1, 4), units);
  BOOST_TEST(order.lanes() == 1);
  BOOST_TEST(!order.knows_rows());
  BOOST_TEST(order.parts().size() == 6U);
}

BOOST_AUTO_TEST_CASE(lanes_are_such_that_machines_read_whole_ones) {
  std::vector<int> lanes;
  for (int machines = 1; machines <= 13; ++machines) lanes.push_back(lanes_for(machines));
  BOOST_TEST(lanes == (std::vector<int>{1, 2, 6, 4, 6, 6, 12, 12, 12, 12, 12, 12, 24}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
