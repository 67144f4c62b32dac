#include "core/labels.hpp"

#include <boost/test/unit_test.hpp>

/// Which nodes a label selector means.
namespace headway {

BOOST_AUTO_TEST_SUITE(labels_suite)

BOOST_AUTO_TEST_CASE(a_selector_means_the_nodes_that_have_all_of_its_labels) {
  const Labels node{{"region", "eu"}, {"disk", "fast"}};
  BOOST_TEST(matches(node, {}));
  BOOST_TEST(matches(node, {{"region", "eu"}}));
  BOOST_TEST(matches(node, {{"region", "eu"}, {"disk", "fast"}}));
  BOOST_TEST(!matches(node, {{"region", "eu"}, {"disk", "slow"}}));
  BOOST_TEST(!matches(node, {{"rack", "7"}}));
}

BOOST_AUTO_TEST_CASE(values_may_be_lists_and_may_be_excluded) {
  const Labels node{{"region", "eu"}};
  BOOST_TEST(matches(node, {{"region", "in(us, eu)"}}));
  BOOST_TEST(!matches(node, {{"region", "in(us,asia)"}}));
  BOOST_TEST(matches(node, {{"region", "!us"}}));
  BOOST_TEST(!matches(node, {{"region", "!eu"}}));
  BOOST_TEST(matches(node, {{"region", "!in(us, asia)"}}));
  BOOST_TEST(!matches(node, {{"region", "!in(us, eu)"}}));
  BOOST_TEST(matches(node, {{"rack", "!7"}}));  // A node without the label is none that has it.
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
