#include "engine/node_supply.hpp"

#include <boost/test/unit_test.hpp>

/// When a provider hears of a demand, and when it gets its nodes back.
namespace headway::engine {

namespace {

using std::chrono::milliseconds;
using Names = std::vector<std::string>;

Demand demand_of(int workers) { return {{{{workers, workers, {{"GPU", 1}}, 0, {}, Placement::pack, {}}, 1}}}; }

struct Supplied {
  NodeSupply supply{{milliseconds(200), milliseconds(5000)}};
  Time start{std::chrono::hours(1)};

  Time at(int ms) const { return start + milliseconds(ms); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_supply_suite)

BOOST_FIXTURE_TEST_CASE(nothing_is_asked_for_while_nothing_waits, Supplied) {
  const auto orders = supply.look(at(0), {}, {"local"});
  BOOST_TEST(!orders.want.has_value());
  BOOST_TEST(orders.give_back.empty());  // Nobody has brought it.
  BOOST_TEST(!orders.next.has_value());
}

BOOST_FIXTURE_TEST_CASE(the_first_demand_is_told_at_once_and_once, Supplied) {
  BOOST_TEST((supply.look(at(0), demand_of(2), {}).want == demand_of(2)));
  const auto again = supply.look(at(1000), demand_of(2), {});
  BOOST_TEST(!again.want.has_value());
  BOOST_TEST(!again.next.has_value());
}

BOOST_FIXTURE_TEST_CASE(of_demands_that_come_quickly_only_the_latest_is_told, Supplied) {
  (void)supply.look(at(0), demand_of(1), {});
  for (int workers = 2; workers < 9; ++workers) {
    const auto orders = supply.look(at(workers), demand_of(workers), {});
    BOOST_TEST(!orders.want.has_value());
    BOOST_TEST((orders.next == at(200)));
  }
  BOOST_TEST((supply.look(at(200), demand_of(9), {}).want == demand_of(9)));
}

BOOST_FIXTURE_TEST_CASE(a_demand_that_comes_and_goes_within_the_pause_is_not_told, Supplied) {
  (void)supply.look(at(0), demand_of(1), {});
  (void)supply.look(at(10), demand_of(2), {});
  BOOST_TEST(!supply.look(at(20), demand_of(1), {}).next.has_value());
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_demand_is_told_as_an_empty_one, Supplied) {
  (void)supply.look(at(0), demand_of(1), {});
  const auto orders = supply.look(at(1000), {}, {});
  BOOST_REQUIRE(orders.want.has_value());
  BOOST_TEST(orders.want->is_empty());
}

BOOST_FIXTURE_TEST_CASE(a_node_that_the_provider_brought_is_given_back_once_it_was_idle_for_long_enough, Supplied) {
  supply.joined("node-1");
  BOOST_TEST((supply.look(at(0), {}, {"local", "node-1"}).next == at(5000)));
  BOOST_TEST(supply.look(at(4999), {}, {"local", "node-1"}).give_back.empty());
  BOOST_TEST(supply.look(at(5000), {}, {"local", "node-1"}).give_back == Names{"node-1"});
  BOOST_TEST(supply.look(at(9000), {}, {"local", "node-1"}).give_back.empty());
  BOOST_TEST(supply.left("node-1"));
  BOOST_TEST(!supply.left("node-1"));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_was_used_in_between_is_idle_from_then_on, Supplied) {
  supply.joined("node-1");
  (void)supply.look(at(0), {}, {"node-1"});
  BOOST_TEST(!supply.look(at(3000), {}, {}).next.has_value());
  BOOST_TEST((supply.look(at(4000), {}, {"node-1"}).next == at(9000)));
  BOOST_TEST(supply.look(at(5000), {}, {"node-1"}).give_back.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
