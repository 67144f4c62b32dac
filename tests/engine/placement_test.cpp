#include "engine/placement.hpp"

#include <boost/test/unit_test.hpp>

/// Which node each worker goes to.
namespace headway::engine {

namespace {

using Counts = std::vector<int>;

Counts placed(const std::vector<Room>& rooms, int workers, Placement placement) {
  return place(rooms, workers, placement).value_or(Counts());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(placement_suite)

BOOST_AUTO_TEST_CASE(packed_workers_fill_a_node_before_they_take_the_next) {
  const std::vector<Room> rooms{{9, 4}, {9, 4}, {9, 4}};
  BOOST_TEST(placed(rooms, 3, Placement::pack) == (Counts{3, 0, 0}));
  BOOST_TEST(placed(rooms, 6, Placement::pack) == (Counts{4, 2, 0}));
}

BOOST_AUTO_TEST_CASE(cpus_are_shared_when_all_are_taken_and_then_evenly) {
  BOOST_TEST(placed({{99, 2}, {99, 4}}, 9, Placement::pack) == (Counts{3, 6}));
  BOOST_TEST(placed({{99, 0}, {99, 4}}, 3, Placement::pack) == (Counts{0, 3}));
}

BOOST_AUTO_TEST_CASE(what_is_claimed_is_never_exceeded) {
  BOOST_TEST(placed({{1, 4}, {2, 4}}, 3, Placement::pack) == (Counts{1, 2}));
  BOOST_TEST(!place({{1, 4}, {2, 4}}, 4, Placement::pack).has_value());
  BOOST_TEST(!place({}, 1, Placement::pack).has_value());
}

BOOST_AUTO_TEST_CASE(spread_workers_take_nodes_in_turn_as_far_as_there_is_room) {
  BOOST_TEST(placed({{9, 4}, {9, 4}}, 4, Placement::spread) == (Counts{2, 2}));
  BOOST_TEST(placed({{1, 4}, {9, 4}}, 4, Placement::spread) == (Counts{1, 3}));
}

BOOST_AUTO_TEST_CASE(strict_placements_are_kept_or_refused) {
  BOOST_TEST(placed({{2, 4}, {5, 4}, {5, 8}}, 4, Placement::strict_pack) == (Counts{0, 4, 0}));
  BOOST_TEST(placed({{9, 1}, {9, 2}}, 3, Placement::strict_pack) == (Counts{0, 3}));
  BOOST_TEST(!place({{2, 4}, {3, 4}}, 4, Placement::strict_pack).has_value());
  BOOST_TEST(placed({{9, 4}, {0, 4}, {9, 4}}, 2, Placement::strict_spread) == (Counts{1, 0, 1}));
  BOOST_TEST(!place({{9, 4}, {9, 4}}, 3, Placement::strict_spread).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
