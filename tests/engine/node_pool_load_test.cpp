#include "engine/node_pool.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

/// What the pool's calls cost when users ask for a lot, and what is demanded of those who bring
/// nodes.
namespace headway::engine {

namespace {

node::NodeResources node_with(const std::string& name, Resources total, Labels labels = {}) {
  node::NodeResources node;
  node.node_id = name;
  node.hostname = name;
  node.total = std::move(total);
  node.labels = std::move(labels);
  return node;
}

Wanted workers_of(int workers_min, int workers_max, Resources each) {
  return {workers_min, workers_max, {std::move(each), 0}};
}

struct Crowd {
  void ask(std::int64_t holder, const Wanted& wanted) {
    pool.acquire(holder, wanted, {[this, holder](const Result<Grant>&) { granted.push_back(holder); }, nullptr});
  }

  NodePool pool{true};
  std::vector<std::int64_t> granted;
};

constexpr int waiting = 2000;

}  // namespace

BOOST_AUTO_TEST_SUITE(node_pool_load_suite)

BOOST_FIXTURE_TEST_CASE(thirty_thousand_nodes_are_drained_and_leave_in_any_order_without_a_look_for_places, Crowd) {
  constexpr int nodes = 30'000;
  constexpr int stride = 7919;  // A prime: each is reached once.
  const auto name = [](int number) { return "node-" + std::to_string(number); };
  for (int i = 0; i < nodes; ++i) pool.add(node_with(name(i), {{"CPU", 1}}));
  for (int i = 0; i < nodes - 1; ++i) {
    const std::string node_id = name(static_cast<int>((static_cast<std::int64_t>(i) * stride) % nodes));
    pool.drain(node_id);
    pool.remove(node_id);
  }
  const std::string last = name(static_cast<int>((static_cast<std::int64_t>(nodes - 1) * stride) % nodes));
  BOOST_REQUIRE(pool.nodes().size() == 1U);
  BOOST_TEST(pool.nodes().front().node_id == last);
  BOOST_TEST(pool.plans_made() == 0);
  pool.remove("node-that-nobody-knows");
  ask(1, workers_of(1, 1, {{"CPU", 1}}));
  BOOST_TEST(granted == std::vector<std::int64_t>{1});
}

BOOST_FIXTURE_TEST_CASE(a_group_of_one_to_a_million_is_one_look_for_places, Crowd) {
  pool.add(node_with("a", {{"CPU", 4}}));
  pool.add(node_with("b", {{"CPU", 4}}));
  const Wanted hard = workers_of(1, 1'000'000, {{"CPU", 1}});
  const Wanted advised{1, 1'000'000, {{}, 1}};
  const std::int64_t before = pool.plans_made();
  BOOST_TEST(pool.possible(1, hard) == 8);
  BOOST_TEST(pool.possible(1, advised) == 8);
  BOOST_TEST(pool.plans_made() - before == 2);
  std::size_t slots = 0;
  pool.acquire(1, hard, {[&](const Result<Grant>& grant) { slots = grant->slots.size(); }, nullptr});
  BOOST_TEST(slots == 8U);
  for (const Placement placement : {Placement::spread, Placement::strict_spread, Placement::strict_pack}) {
    Wanted placed = hard;
    placed.placement = placement;
    BOOST_TEST(pool.possible(1, placed) == (placement == Placement::spread          ? 8
                                            : placement == Placement::strict_spread ? 2
                                                                                    : 4));
  }
}

BOOST_FIXTURE_TEST_CASE(two_thousand_requests_for_nodes_are_looked_at_once_each_time_nodes_come_or_go, Crowd) {
  pool.add(node_with("a", {{"CPU", 1}}));
  for (int i = 0; i < waiting; ++i) ask(i, workers_of(1, 1, {{"GPU", 1}}));
  BOOST_TEST(pool.plans_made() <= waiting);
  ask(waiting, workers_of(1, 1, {{"CPU", 1}}));
  BOOST_TEST(granted == std::vector<std::int64_t>{waiting});
  const std::int64_t before = pool.plans_made();
  for (int i = 0; i < waiting; ++i) {
    pool.release(waiting);
    ask(waiting, workers_of(1, 1, {{"CPU", 1}}));
    BOOST_TEST(pool.possible(waiting, workers_of(1, 2, {{"CPU", 1}})) == 1);
  }
  BOOST_TEST(pool.plans_made() - before <= 3 * waiting);  // Not once for each that waits.
  BOOST_TEST(granted.size() == waiting + 1U);
}

BOOST_FIXTURE_TEST_CASE(two_thousand_requests_are_granted_in_order_with_two_looks_each, Crowd) {
  pool.add(node_with("a", {{"CPU", 1}}));
  for (int i = 0; i < waiting; ++i) ask(i, workers_of(1, 1, {{"CPU", 1}}));
  for (int i = 0; i < waiting; ++i) pool.release(i);
  BOOST_TEST(granted.size() == static_cast<std::size_t>(waiting));
  BOOST_TEST(std::is_sorted(granted.begin(), granted.end()));
  // Each is looked at once for whether it could ever be placed, and in its turn, when somebody asks
  // or gives back.
  BOOST_TEST(pool.plans_made() <= 4 * waiting);
}

BOOST_FIXTURE_TEST_CASE(two_thousand_requests_that_a_node_brings_capacity_for_are_granted_in_one_pass, Crowd) {
  for (int i = 0; i < waiting; ++i) ask(i, workers_of(1, 1, {{"CPU", 1}}));
  const std::int64_t before = pool.plans_made();
  pool.add(node_with("a", {{"CPU", waiting}}));
  BOOST_TEST(granted.size() == static_cast<std::size_t>(waiting));
  BOOST_TEST(std::is_sorted(granted.begin(), granted.end()));
  BOOST_TEST(pool.plans_made() - before <= 2 * waiting);
}

BOOST_FIXTURE_TEST_CASE(who_gives_back_what_another_was_just_granted_is_obeyed, Crowd) {
  const auto keep = [this](std::int64_t holder) {
    return [this, holder](const Result<Grant>&) { granted.push_back(holder); };
  };
  pool.acquire(1, workers_of(1, 1, {{"CPU", 1}}),
               {[&](const Result<Grant>&) {
                  granted.push_back(1);
                  pool.release(2);
                },
                nullptr});
  pool.acquire(2, workers_of(1, 1, {{"CPU", 1}}), {keep(2), nullptr});
  pool.acquire(3, workers_of(1, 1, {{"CPU", 1}}), {keep(3), nullptr});
  pool.add(node_with("a", {{"CPU", 2}}));
  BOOST_TEST(granted == (std::vector<std::int64_t>{1, 3}));
  BOOST_TEST(pool.available().at("CPU") == 0.0);
}

BOOST_FIXTURE_TEST_CASE(the_demand_is_what_waits_for_nodes_in_order, Crowd) {
  pool.add(node_with("a", {{"CPU", 1}}));
  BOOST_TEST(pool.demand().is_empty());
  ask(1, workers_of(1, 1, {{"CPU", 1}}));
  ask(2, workers_of(1, 1, {{"CPU", 1}}));  // It waits for the first one.
  Wanted labelled = workers_of(2, 4, {{"GPU", 1}});
  labelled.claim.selectors = {{{"region", "eu"}}};
  labelled.placement = Placement::spread;
  labelled.beside = {{"CPU", 2}};
  for (const std::int64_t holder : {3, 4}) ask(holder, labelled);
  ask(5, workers_of(1, 1, {{"CPU", 2}}));
  const Demand demand = pool.demand();
  BOOST_REQUIRE(demand.parts.size() == 2U);
  const NodeRequest& first = demand.parts[0].request;
  BOOST_TEST(demand.parts[0].times == 2);
  BOOST_TEST(first.workers_min == 2);
  BOOST_TEST(first.workers_max == 4);
  BOOST_TEST(first.each.at("GPU") == 1.0);
  BOOST_TEST(first.selectors[0].at("region") == "eu");
  BOOST_TEST((first.placement == Placement::spread));
  BOOST_TEST(first.beside.at("CPU") == 2.0);
  BOOST_TEST(demand.parts[1].request.each.at("CPU") == 2.0);
  pool.add(node_with("b", {{"CPU", 2}}));
  BOOST_TEST(pool.demand().parts.size() == 1U);
  pool.release(3);
  pool.release(4);
  BOOST_TEST(pool.demand().is_empty());
}

BOOST_FIXTURE_TEST_CASE(a_node_is_idle_when_nobody_has_anything_there_and_nothing_that_waits_could_use_it, Crowd) {
  using Names = std::vector<std::string>;
  pool.add(node_with("a", {{"CPU", 2}}));
  pool.add(node_with("b", {{"CPU", 1}}));
  BOOST_TEST(pool.idle_nodes() == (Names{"a", "b"}));
  ask(1, {1, 1, {{}, 1}});
  BOOST_TEST(pool.idle_nodes() == Names{"b"});
  ask(2, workers_of(9, 9, {{"CPU", 1}}));
  BOOST_TEST(pool.idle_nodes().empty());  // One of the nine could go there, once there are others.
  pool.release(2);
  ask(3, workers_of(1, 1, {{"GPU", 1}}));
  BOOST_TEST(pool.idle_nodes() == Names{"b"});
  pool.drain("b");
  BOOST_TEST(pool.idle_nodes().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
