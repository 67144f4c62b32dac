#include "control/held_nodes.hpp"

#include "control/pieces.hpp"

/// Which of the granted nodes can still be used.
namespace headway::control {

BOOST_AUTO_TEST_SUITE(held_nodes_suite)

BOOST_AUTO_TEST_CASE(nothing_is_started_where_a_node_is_lost_or_leaves) {
  HeldNodes nodes(0);
  nodes.grant({slot_on("node-a"), slot_on("node-b")});
  BOOST_TEST(!nodes.any_going());
  nodes.lose("node-c");
  BOOST_TEST(!nodes.any_going());
  nodes.preemption().leaves({"node-b", 60, 1000}, Time{});
  BOOST_TEST(nodes.any_going());
  nodes.grant({slot_on("node-a")});
  BOOST_TEST(!nodes.any_going());
  nodes.lose("node-a");
  BOOST_TEST(nodes.any_going());
  nodes.give_back();
  BOOST_TEST(!nodes.any_going());
}

BOOST_AUTO_TEST_CASE(a_rank_is_lost_with_its_process_or_with_its_node) {
  HeldNodes nodes(0);
  WorkerGroup group = group_of(2);
  BOOST_TEST(!nodes.lost(group.at(0)));
  group.at(0).gone = true;
  BOOST_TEST(nodes.lost(group.at(0)));
  BOOST_TEST(!nodes.lost(group.at(1)));
  nodes.lose("node-a");
  BOOST_TEST(nodes.lost(group.at(1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
