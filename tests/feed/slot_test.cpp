#include "feed/slot.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace headway::feed {

BOOST_AUTO_TEST_SUITE(slots)

BOOST_AUTO_TEST_CASE(buffers_of_a_slot_are_aligned_and_do_not_meet) {
  SlotPlan plan(2, 3);
  const SlotBuffer first = plan.add(10);
  const SlotBuffer none = plan.add_absent();
  const SlotBuffer last = plan.add(100);
  BOOST_TEST(first.offset % buffer_alignment == 0u);
  BOOST_TEST(last.offset % buffer_alignment == 0u);
  BOOST_TEST(last.offset >= first.offset + first.size);
  BOOST_TEST(none.offset == 0u);
  BOOST_TEST(plan.size() % slot_alignment == 0u);
  BOOST_TEST(plan.size() >= last.offset + last.size);
}

BOOST_AUTO_TEST_CASE(tables_are_read_as_written) {
  SlotPlan plan(1, 2);
  plan.add_absent();
  plan.add(16);
  std::vector<std::byte> memory(plan.size());
  const std::vector<SlotNode> nodes{{4, 0}};
  write_tables(memory, 4, 7, nodes, plan.buffers_of(memory.size()));
  const auto view = read_tables(memory);
  BOOST_REQUIRE(view.has_value());
  BOOST_TEST(view->header.rows == 4);
  BOOST_TEST(view->header.layout == 7u);
  BOOST_REQUIRE(view->nodes.size() == 1u);
  BOOST_TEST(view->nodes[0].length == 4);
  BOOST_REQUIRE(view->buffers.size() == 2u);
  BOOST_TEST(view->buffers[0].offset == 0u);
  BOOST_TEST(view->buffers[1].size == 16u);
}

BOOST_AUTO_TEST_CASE(a_damaged_slot_is_refused) {
  BOOST_TEST(!read_tables({}).has_value());
  SlotPlan plan(1, 1);
  plan.add(16);
  std::vector<std::byte> memory(plan.size());
  const std::vector<SlotNode> nodes{{4, 0}};
  const std::vector<SlotBuffer> beyond{{plan.size() - 8, 16}};
  write_tables(memory, 4, 0, nodes, beyond);
  const auto view = read_tables(memory);
  BOOST_REQUIRE(!view.has_value());
  BOOST_TEST(static_cast<int>(view.error().kind) == static_cast<int>(ErrorKind::corrupted));
  memory.assign(plan.size(), std::byte{});
  BOOST_TEST(!read_tables(memory).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::feed
