#include "control/elastic_size.hpp"

#include <boost/test/unit_test.hpp>

/// How large a group may be, and what is said of its size.
namespace headway::control {
namespace {

RunSpec sized(int least, int most) {
  RunSpec spec;
  spec.scaling.num_workers = most;
  spec.scaling.min_workers = least;
  return spec;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elastic_size_suite)

BOOST_AUTO_TEST_CASE(a_group_of_one_size_is_not_elastic_and_tells_nothing) {
  ElasticSize size(sized(3, 3));
  BOOST_TEST(!size.elastic());
  BOOST_TEST(!size.size_notice(3));
  size.growth().capacity_changed();
  BOOST_TEST(!size.wants_nodes(3));
}

BOOST_AUTO_TEST_CASE(a_size_is_told_when_it_changes) {
  ElasticSize size(sized(1, 4));
  BOOST_TEST(size.size_notice(4).value() == "The worker group has 4 workers now (num_workers is 1 to 4)");
  BOOST_TEST(!size.size_notice(4));
  BOOST_TEST(size.size_notice(1).value() == "The worker group has 1 worker now, 4 before (num_workers is 1 to 4)");
}

BOOST_AUTO_TEST_CASE(a_group_that_was_ended_to_grow_wants_new_nodes_once) {
  ElasticSize size(sized(1, 4));
  BOOST_TEST(!size.wants_nodes(2));
  size.resize();
  BOOST_TEST(size.resizing());
  BOOST_TEST(size.wants_nodes(2));
  BOOST_TEST(!size.resizing());
  size.growth().capacity_changed();
  BOOST_TEST(size.wants_nodes(2));
  BOOST_TEST(!size.wants_nodes(4));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
