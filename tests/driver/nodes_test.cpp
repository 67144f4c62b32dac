#include "driver/nodes.hpp"

#include <boost/test/unit_test.hpp>

/// What is asked of a worker whose node is gone.
namespace headway::driver {

BOOST_AUTO_TEST_SUITE(nodes_suite)

BOOST_AUTO_TEST_CASE(a_worker_that_is_gone_is_examined_as_others_are_later_and_once) {
  boost::asio::io_context loop;
  Nodes nodes(loop);
  std::vector<std::string> told;
  nodes.examine(7, [&](const ProcessSeen& seen) { told.push_back(seen.text); });
  BOOST_TEST(told.empty());
  loop.run();
  BOOST_TEST(told == std::vector<std::string>{"its process has ended\n"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
