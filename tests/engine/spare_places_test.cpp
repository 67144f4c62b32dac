#include "engine/spare_places.hpp"

#include "engine/node_pool.hpp"

#include <boost/test/unit_test.hpp>

/// CPUs that nobody has claimed: who gets them, and who makes way.
namespace headway::engine {
namespace {

SpareNode node(const std::string& id, double cpus, bool has_gpus = false, Labels labels = {}) {
  return {id, "host-" + id, "10.0.0.1", cpus, has_gpus, std::move(labels)};
}

std::string place(const SparePlaces& places, const std::vector<SpareNode>& nodes, const SpareWanted& wanted = {}) {
  const SpareNode* found = places.find(nodes, wanted);
  return found == nullptr ? "nowhere" : found->node_id;
}

node::NodeResources resources(const std::string& id, double cpus, int gpus = 0) {
  node::NodeResources made;
  made.node_id = id;
  made.hostname = "host-" + id;
  made.total = {{"CPU", cpus}};
  if (gpus > 0) made.total["GPU"] = gpus;
  for (int gpu = 0; gpu < gpus; ++gpu) made.gpu_ids.push_back(std::to_string(gpu));
  return made;
}

double spare_on(const NodePool& pool, const std::string& id) {
  for (const SpareNode& each : pool.spare()) {
    if (each.node_id == id) return each.cpus;
  }
  return -1;
}

void acquire(NodePool& pool, std::int64_t holder, const Wanted& wanted) {
  pool.acquire(holder, wanted, {[](const Result<Grant>& grant) { BOOST_TEST(grant.has_value()); }, nullptr});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spare_places)

BOOST_AUTO_TEST_CASE(nodes_without_gpus_come_before_others_and_then_the_one_with_most_to_spare) {
  SparePlaces places;
  const std::vector<SpareNode> nodes{node("gpu", 64, true), node("small", 1), node("large", 3)};
  BOOST_TEST(place(places, nodes) == "large");
  places.take(1, "large", 1);
  places.take(2, "large", 1);
  BOOST_TEST(place(places, nodes) == "small");
  places.take(3, "small", 1);
  places.take(4, "large", 1);
  BOOST_TEST(place(places, nodes) == "gpu");
  BOOST_TEST(places.room(nodes, {}) == 64);
  places.give_back(3);
  BOOST_TEST(place(places, nodes) == "small");
}

BOOST_AUTO_TEST_CASE(a_worker_goes_only_where_its_selector_means_and_never_to_a_rank_s_node) {
  const SparePlaces places;
  const std::vector<SpareNode> nodes{node("one", 4, false, {{"kind", "cpu"}}), node("two", 8)};
  BOOST_TEST(place(places, nodes, {1, {}, {{"kind", "cpu"}}}) == "one");
  BOOST_TEST(place(places, nodes, {1, {"one"}, {{"kind", "cpu"}}}) == "nowhere");
  BOOST_TEST(place(places, nodes, {16, {}, {}}) == "nowhere");
  BOOST_TEST(places.room(nodes, {3, {}, {}}) == 3);
}

BOOST_AUTO_TEST_CASE(fractions_fill_a_cpu_exactly) {
  SparePlaces places;
  const std::vector<SpareNode> nodes{node("one", 1)};
  BOOST_TEST(places.room(nodes, {0.1, {}, {}}) == 10);
  for (int worker = 0; worker < 10; ++worker) {
    BOOST_TEST(place(places, nodes, {0.1, {}, {}}) == "one");
    places.take(worker, "one", 0.1);
  }
  BOOST_TEST(place(places, nodes, {0.1, {}, {}}) == "nowhere");
  BOOST_TEST(places.too_many(nodes).empty());
}

BOOST_AUTO_TEST_CASE(the_workers_that_came_last_make_way_and_all_of_a_node_that_has_gone) {
  SparePlaces places;
  for (int worker = 1; worker <= 3; ++worker) places.take(worker, "one", 1);
  places.take(4, "two", 1);
  BOOST_TEST(places.too_many({node("one", 3), node("two", 1)}).empty());
  BOOST_TEST((places.too_many({node("one", 1), node("two", 1)}) == std::vector<std::int64_t>{3, 2}));
  BOOST_TEST((places.too_many({node("two", 1)}) == std::vector<std::int64_t>{3, 2, 1}));
}

BOOST_AUTO_TEST_CASE(what_holders_claim_or_are_advised_to_use_is_not_spare) {
  NodePool pool;
  pool.add(resources("cpu", 8));
  int changes = 0;
  pool.on_spare_change([&] { ++changes; });
  acquire(pool, 1, {3, 3, {{{"CPU", 1}}, 0, {}}, Placement::pack});
  BOOST_TEST(spare_on(pool, "cpu") == 5);
  acquire(pool, 2, {2, 2, {{}, 1, {}}, Placement::pack});
  BOOST_TEST(spare_on(pool, "cpu") == 3);
  BOOST_TEST(changes >= 2);
  pool.release(2);
  pool.release(1);
  BOOST_TEST(spare_on(pool, "cpu") == 8);
  pool.drain("cpu");
  BOOST_TEST(spare_on(pool, "cpu") == -1);
}

BOOST_AUTO_TEST_CASE(a_group_may_grow_into_what_workers_use_and_their_node_is_not_idle) {
  NodePool pool;
  pool.add(resources("one", 1));
  const Wanted wanted{1, 4, {{{"CPU", 1}}, 0, {}}, Placement::pack};
  acquire(pool, 1, wanted);
  pool.add(resources("two", 2));
  pool.use_spare_of({"two"}, {});
  BOOST_TEST(pool.possible(1, wanted) == 3);
  pool.release(1);
  BOOST_TEST((pool.idle_nodes() == std::vector<std::string>{"one"}));
  pool.use_spare_of({}, {});
  BOOST_TEST(pool.idle_nodes().size() == 2);
}

BOOST_AUTO_TEST_CASE(what_workers_lack_is_asked_of_providers_as_what_could_be_used) {
  NodePool pool(true);
  int changes = 0;
  pool.on_supply_change([&] { ++changes; });
  NodeRequest request;
  request.workers_max = 3;
  request.each = {{"CPU", 1}};
  request.selectors = {{{"kind", "cpu"}}};
  SparePlaces places;
  int one = 0;
  int other = 0;
  places.lack(&one, {request});
  places.lack(&other, {request});
  pool.use_spare_of({}, places.lacking());
  pool.use_spare_of({}, places.lacking());
  BOOST_TEST(changes == 1);
  BOOST_TEST(pool.demand().is_empty());
  BOOST_REQUIRE_EQUAL(pool.demand().could_use.size(), 1);
  BOOST_TEST(pool.demand().could_use[0].times == 2);
  BOOST_TEST((pool.demand().could_use[0].request == request));
  places.lack(&one, {});
  places.lack(&other, {});
  pool.use_spare_of({}, places.lacking());
  BOOST_TEST(pool.demand().could_use.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
