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

BOOST_AUTO_TEST_CASE(workers_with_nodes_of_their_own_make_way_for_each_other) {
  const auto assigned = [](const std::vector<Room>& rooms, const std::vector<std::vector<bool>>& allowed,
                           Placement placement = Placement::pack) {
    return assign(rooms, allowed, placement).value_or(Counts());
  };
  const std::vector<Room> rooms{{1, 1}, {1, 1}, {1, 1}};
  BOOST_TEST(assigned(rooms, {{true, true, true}, {true, false, false}}) == (Counts{1, 0}));
  // The third one's place is taken by the first, which can only go where the second is.
  BOOST_TEST(assigned(rooms, {{true, true, false}, {false, true, true}, {true, false, false}}) == (Counts{1, 2, 0}));
  BOOST_TEST(assigned(rooms, {{true, false, false}, {true, false, false}}) == Counts());
  const std::vector<Room> large{{9, 4}, {9, 4}};
  BOOST_TEST(assigned(large, {{true, true}, {false, true}, {true, true}}) == (Counts{0, 1, 0}));
  BOOST_TEST(assigned(large, {{true, true}, {false, true}}, Placement::strict_pack) == (Counts{1, 1}));
  BOOST_TEST(assigned(large, {{true, false}, {false, true}}, Placement::strict_pack) == Counts());
  BOOST_TEST(assigned(large, {{true, true}, {true, false}}, Placement::strict_spread) == (Counts{1, 0}));
  BOOST_TEST(assigned(large, {{true, true}, {true, true}, {true, true}}, Placement::strict_spread) == Counts());
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
