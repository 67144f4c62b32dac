#include "engine/node_pool.hpp"

#include <boost/test/unit_test.hpp>

/// Runs that share this machine: who comes first is served first.
namespace headway::engine {

namespace {

struct Fixture {
  Fixture() { engine.add(node("host-a")); }

  static node::NodeResources node(const std::string& name, double cpus = 4) {
    node::NodeResources node;
    node.node_id = name;
    node.hostname = name;
    node.total = {{"CPU", cpus}};
    return node;
  }

  void ask(std::int64_t holder, double cpus, bool ahead = false) {
    engine.acquire(
        holder, {1, 1, {{{"CPU", cpus}}, 0}, Placement::pack, {}, ahead},
        {[this, holder](const Result<Grant>& grant) { (grant ? granted : refused).push_back(holder); }, nullptr});
  }

  using Holders = std::vector<std::int64_t>;
  NodePool engine;
  Holders granted;
  Holders refused;
};

using Holders = Fixture::Holders;

}  // namespace

BOOST_AUTO_TEST_SUITE(node_pool_suite)

BOOST_FIXTURE_TEST_CASE(runs_that_fit_beside_each_other_get_their_slots_at_once, Fixture) {
  ask(1, 2);
  ask(2, 2);
  BOOST_TEST(granted == (Holders{1, 2}));
  BOOST_TEST(engine.available().at("CPU") == 0.0);
  BOOST_TEST(engine.total().at("CPU") == 4.0);
}

BOOST_FIXTURE_TEST_CASE(a_large_request_is_not_starved_by_small_ones_behind_it, Fixture) {
  ask(1, 1);
  ask(2, 4);
  ask(3, 1);
  BOOST_TEST(granted == Holders{1});
  engine.release(1);
  BOOST_TEST(granted == (Holders{1, 2}));
  engine.release(2);
  BOOST_TEST(granted == (Holders{1, 2, 3}));
}

BOOST_FIXTURE_TEST_CASE(who_holds_something_already_comes_before_those_who_hold_nothing, Fixture) {
  ask(1, 4);
  ask(2, 4);
  ask(3, 1, true);
  ask(4, 1, true);
  engine.release(1);
  BOOST_TEST(granted == (Holders{1, 3, 4}));
}

BOOST_FIXTURE_TEST_CASE(a_request_that_is_withdrawn_is_never_answered_and_lets_the_next_one_through, Fixture) {
  ask(1, 1);
  ask(2, 4);
  ask(3, 1);
  engine.release(2);
  BOOST_TEST(granted == (Holders{1, 3}));
  engine.release(1);
  engine.release(3);
  BOOST_TEST(granted == (Holders{1, 3}));
  BOOST_TEST(engine.available().at("CPU") == 4.0);
}

BOOST_FIXTURE_TEST_CASE(what_can_never_be_is_refused_at_once_even_behind_a_queue, Fixture) {
  ask(1, 4);
  ask(2, 4);
  ask(3, 5);
  BOOST_TEST(refused == Holders{3});
  engine.release(1);
  BOOST_TEST(granted == (Holders{1, 2}));
}

BOOST_FIXTURE_TEST_CASE(giving_back_twice_frees_once, Fixture) {
  ask(1, 4);
  engine.release(1);
  engine.release(1);
  BOOST_TEST(engine.available().at("CPU") == 4.0);
}

BOOST_FIXTURE_TEST_CASE(a_holder_that_gives_back_while_it_is_granted_serves_the_next_one, Fixture) {
  ask(1, 4);
  const auto granted_at_once = [this](const Result<Grant>& grant) {
    BOOST_TEST(grant.has_value());
    engine.release(2);
  };
  engine.acquire(2, {1, 1, {{{"CPU", 4}}, 0}}, {granted_at_once, nullptr});
  ask(3, 4);
  engine.release(1);
  BOOST_TEST(granted == (Holders{1, 3}));
}

BOOST_FIXTURE_TEST_CASE(more_workers_than_cpus_start_with_one_warning, Fixture) {
  std::optional<Grant> grant;
  const auto keep = [&](Result<Grant> result) { grant = std::move(*result); };
  engine.acquire(1, {8, 8, {{}, 1}}, {keep, nullptr});
  BOOST_REQUIRE(grant.has_value());
  BOOST_TEST(grant->slots.size() == 8U);
  BOOST_REQUIRE(grant->warnings.size() == 1U);
  BOOST_TEST(grant->warnings[0].starts_with("8 workers share 4 CPUs"));
  engine.acquire(2, {4, 4, {{}, 1}}, {keep, nullptr});
  BOOST_TEST(grant->warnings.empty());
}

BOOST_FIXTURE_TEST_CASE(what_can_never_be_is_said_with_what_was_asked_and_what_there_is, Fixture) {
  engine.add(node("host-b", 2));
  std::string words;
  const auto keep = [&](const Result<Grant>& grant) { words = grant ? "granted" : grant.error().message; };
  engine.acquire(1, {3, 3, {{{"CPU", 3}}, 0}}, {keep, nullptr});
  BOOST_TEST(
      words ==
      "3 workers with {CPU: 3} each can never be placed: there is {CPU: 4} on host-a, {CPU: 2} on host-b in all");
}

BOOST_FIXTURE_TEST_CASE(a_group_fills_one_node_after_the_other, Fixture) {
  engine.add(node("host-b"));
  std::vector<std::string> names;
  const auto keep = [&](const Result<Grant>& grant) {
    for (const Slot& slot : grant->slots) names.push_back(slot.node_id);
  };
  engine.acquire(1, {6, 6, {{}, 1}}, {keep, nullptr});
  BOOST_TEST(names == (std::vector<std::string>{"host-a", "host-a", "host-a", "host-a", "host-b", "host-b"}));
}

BOOST_FIXTURE_TEST_CASE(what_waits_for_nodes_is_told_once_and_served_when_they_join, Fixture) {
  NodePool pool(true);
  std::vector<std::string> reasons;
  std::size_t slots = 0;
  const auto pending = [&](const std::string& reason) { reasons.push_back(reason); };
  const auto keep = [&](const Result<Grant>& grant) { slots = grant->slots.size(); };
  pool.acquire(1, {2, 2, {{{"CPU", 4}}, 0}}, {keep, pending});
  pool.add(node("host-a"));
  BOOST_TEST(slots == 0U);
  pool.add(node("host-b"));
  BOOST_TEST(slots == 2U);
  BOOST_TEST(reasons ==
             std::vector<std::string>{"2 workers with {CPU: 4} each wait for nodes to join: there is no node"});
}

BOOST_FIXTURE_TEST_CASE(who_stands_behind_another_is_told_what_it_waits_for, Fixture) {
  std::vector<std::string> reasons;
  const auto pending = [&](const std::string& reason) { reasons.push_back(reason); };
  ask(1, 1);
  ask(2, 4);
  engine.acquire(3, {1, 1, {{{"CPU", 1}}, 0}}, {[](const Result<Grant>&) {}, pending});
  ask(4, 1);
  BOOST_TEST(reasons ==
             std::vector<std::string>{
                 "1 worker with {CPU: 1} each wait for other runs to end: there is {CPU: 4} on host-a in all"});
}

BOOST_FIXTURE_TEST_CASE(who_waits_for_nodes_keeps_nobody_waiting_for_whom_there_is_capacity, Fixture) {
  NodePool pool(true);
  Holders served;
  const auto want = [&](std::int64_t holder, double cpus) {
    const auto keep = [&served, holder](const Result<Grant>&) { served.push_back(holder); };
    pool.acquire(holder, {1, 1, {{{"CPU", cpus}}, 0}}, {keep, nullptr});
  };
  pool.add(node("host-a", 1));
  pool.add(node("host-b", 2));
  want(1, 2);
  want(2, 2);
  want(3, 1);
  BOOST_TEST(served == Holders{1});  // The second one comes before the third.
  BOOST_TEST(pool.possible(1, {1, 1, {{{"CPU", 1}}, 0}}) == 0);
  pool.remove("host-b");
  BOOST_TEST(served == (Holders{1, 3}));
  BOOST_TEST(pool.possible(3, {1, 1, {{{"CPU", 1}}, 0}}) == 1);
  pool.add(node("host-c", 2));
  BOOST_TEST(served == (Holders{1, 3, 2}));
  pool.drain("host-c");
  want(4, 2);
  pool.release(3);
  want(5, 1);
  BOOST_TEST(served == (Holders{1, 3, 2, 5}));
}

BOOST_FIXTURE_TEST_CASE(a_group_of_any_size_takes_what_there_is_within_its_bounds, Fixture) {
  std::size_t slots = 0;
  const auto keep = [&](const Result<Grant>& grant) { slots = grant->slots.size(); };
  ask(1, 1);
  engine.acquire(2, {2, 8, {{{"CPU", 1}}, 0}}, {keep, nullptr});
  BOOST_TEST(slots == 3U);
  BOOST_TEST(engine.possible(2, {2, 8, {{{"CPU", 1}}, 0}}) == 3);
  engine.release(1);
  BOOST_TEST(engine.possible(2, {2, 8, {{{"CPU", 1}}, 0}}) == 4);
  engine.release(2);
  engine.acquire(2, {2, 8, {{}, 1}}, {keep, nullptr});
  BOOST_TEST(slots == 4U);  // It could share CPUs, but needs not.
}

BOOST_FIXTURE_TEST_CASE(what_is_possible_leaves_capacity_for_what_is_held_beside_the_workers, Fixture) {
  Wanted wanted{1, 8, {{{"CPU", 1}}, 0}};
  wanted.beside = {{"CPU", 1}};
  std::size_t slots = 0;
  engine.acquire(1, wanted, {[&](const Result<Grant>& grant) { slots = grant->slots.size(); }, nullptr});
  BOOST_TEST(slots == 3U);
  BOOST_TEST(engine.possible(1, wanted) == 3);
  engine.add(node("host-b"));
  BOOST_TEST(engine.possible(1, wanted) == 7);
}

/// An elastic run (1) on two nodes, of which one has a CPU left, and validations of its
/// checkpoints.
struct Growing : Fixture {
  Growing() {
    engine.remove("host-a");
    engine.add(node("host-b", 1));
    engine.add(node("host-c", 2));
    train(2);
    validate(2, 2);
    BOOST_TEST(slots == 2U);
    BOOST_TEST(granted.empty());
  }

  void train(int workers_max) {
    engine.acquire(1, group(workers_max),
                   {[this](const Result<Grant>& grant) { slots = grant->slots.size(); }, nullptr});
  }
  static Wanted group(int workers_max) { return {1, workers_max, {{{"CPU", 1}}, 0}}; }

  void validate(std::int64_t holder, double cpus, std::int64_t run = 1) {
    Wanted wanted{1, 1, {{{"CPU", cpus}}, 0}};
    wanted.validates = run;
    engine.acquire(holder, wanted, {[this, holder](const Result<Grant>&) { granted.push_back(holder); }, nullptr});
  }

  std::size_t slots = 0;
};

BOOST_FIXTURE_TEST_CASE(a_group_grows_beside_its_own_validation_that_waits_for_what_the_group_has, Growing) {
  BOOST_TEST(engine.possible(1, group(3)) == 3);
  train(3);
  BOOST_TEST(slots == 3U);
  BOOST_TEST(granted.empty());
  engine.release(1);
  BOOST_TEST(granted == Holders{2});  // When the training ends, at the latest.
}

BOOST_FIXTURE_TEST_CASE(a_group_that_asks_again_does_not_stand_behind_its_own_validations, Growing) {
  slots = 0;
  train(2);
  BOOST_TEST(slots == 2U);
  BOOST_TEST(granted.empty());
}

BOOST_FIXTURE_TEST_CASE(a_group_takes_no_capacity_from_its_own_validation_that_waits_for_somebody_else, Fixture) {
  const Wanted two{1, 2, {{{"CPU", 1}}, 0}};
  ask(1, 1);
  ask(3, 2);
  Wanted validation{1, 1, {{{"CPU", 3}}, 0}};
  validation.validates = 1;
  engine.acquire(2, validation, {[this](const Result<Grant>&) { granted.push_back(2); }, nullptr});
  BOOST_TEST(engine.possible(1, two) == 0);
  engine.release(3);
  BOOST_TEST(granted == (Holders{1, 3, 2}));
  BOOST_TEST(engine.possible(1, two) == 1);
  engine.release(2);
  BOOST_TEST(engine.possible(1, two) == 2);
}

BOOST_FIXTURE_TEST_CASE(another_run_s_validation_that_waits_comes_first, Growing) {
  engine.release(2);
  validate(5, 2, 4);
  BOOST_TEST(engine.possible(1, group(3)) == 0);
}

BOOST_FIXTURE_TEST_CASE(who_asks_again_gives_back_what_it_had, Fixture) {
  int changes = 0;
  engine.on_change([&] { ++changes; });
  ask(1, 3);
  ask(1, 4);
  BOOST_TEST(granted == (Holders{1, 1}));
  BOOST_TEST(changes == 1);
  engine.release(1);
  BOOST_TEST(engine.available().at("CPU") == 4.0);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_is_lost_or_drained_gives_nothing_more, Fixture) {
  int changes = 0;
  engine.on_change([&] { ++changes; });
  engine.add(node("host-b"));
  BOOST_TEST(changes == 1);
  engine.drain("host-a");
  BOOST_TEST(engine.possible(1, {1, 8, {{{"CPU", 1}}, 0}}) == 4);
  engine.remove("host-b");
  ask(2, 1);
  BOOST_TEST(granted.empty());
  BOOST_TEST(refused.empty());  // host-a may be as before, some day.
}

BOOST_FIXTURE_TEST_CASE(what_the_run_holds_beside_its_workers_counts, Fixture) {
  const auto ask_beside = [this](std::int64_t holder, int workers, double beside) {
    Wanted wanted{workers, workers, {{{"CPU", 1}}, 0}};
    wanted.beside = {{"CPU", beside}};
    engine.acquire(
        holder, wanted,
        {[this, holder](const Result<Grant>& grant) { (grant ? granted : refused).push_back(holder); }, nullptr});
  };
  ask_beside(1, 2, 2);
  BOOST_TEST(engine.available().at("CPU") == 0.0);
  ask_beside(2, 4, 1);  // No node has five.
  BOOST_TEST(refused == Holders{2});
  ask_beside(3, 3, 1);
  BOOST_TEST(granted == Holders{1});
  engine.release(1);
  BOOST_TEST(granted == (Holders{1, 3}));
  engine.release(3);
  BOOST_TEST(engine.available().at("CPU") == 4.0);
}

BOOST_AUTO_TEST_CASE(workers_go_to_nodes_whose_labels_match) {
  NodePool pool;
  for (const char* region : {"us", "eu"}) {
    node::NodeResources node = Fixture::node(region);
    node.labels = {{"region", region}};
    pool.add(std::move(node));
  }
  const auto ask = [&pool](const std::vector<Labels>& selectors) {
    Wanted wanted{2, 2, {{{"CPU", 1}}, 0}};
    wanted.claim.selectors = selectors;
    std::optional<Result<Grant>> answer;
    pool.acquire(1, wanted, {[&answer](Result<Grant> grant) { answer = std::move(grant); }, nullptr});
    pool.release(1);
    BOOST_REQUIRE(answer);
    return *answer;
  };
  const auto granted = ask({{{"region", "eu"}}});
  BOOST_REQUIRE(granted);
  for (const Slot& slot : granted->slots) BOOST_TEST(slot.node_id == "eu");
  BOOST_TEST(ask({{{"region", "in(us, eu)"}}}).has_value());
  const auto one_each = ask({{{"region", "eu"}}, {{"region", "us"}}});
  BOOST_REQUIRE(one_each);
  BOOST_TEST(one_each->slots[0].node_id == "eu");
  BOOST_TEST(one_each->slots[1].node_id == "us");
  const auto refused = ask({{{"region", "eu"}}, {{"region", "asia"}}});
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.error().message.find("on nodes with {region: eu}, {region: asia} (one a worker)") !=
             std::string::npos);
  BOOST_TEST((refused.error().kind == ErrorKind::invalid_argument));
  BOOST_TEST(refused.error().message.find("with the labels {region: us}") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_strategy_has_its_name) {
  BOOST_TEST((to_placement("STRICT_SPREAD") == Placement::strict_spread));
  BOOST_TEST((to_placement("STRICT_PACK") == Placement::strict_pack));
  BOOST_TEST((to_placement("SPREAD") == Placement::spread));
  BOOST_TEST((to_placement("PACK") == Placement::pack));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
