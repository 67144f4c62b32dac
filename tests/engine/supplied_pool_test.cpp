#include "engine/supplied_pool.hpp"

#include <boost/test/unit_test.hpp>

/// A pool and a provider that brings nodes to it, on a loop.
namespace headway::engine {

namespace {

namespace asio = boost::asio;

/// Notes what it is asked; the test brings the nodes.
class FakeProvider : public NodeProvider {
 public:
  struct Notes {
    std::vector<std::string> calls;
    std::vector<Demand> demands;
    std::optional<Site> site;
  };

  explicit FakeProvider(Notes& notes) : notes_(&notes) {}

  void open(Site site) override {
    notes_->calls.push_back("open " + site.join.address + " with " + site.join.token);
    notes_->site.emplace(std::move(site));
  }
  void want(const Demand& demand) override {
    notes_->calls.push_back("want " + std::to_string(demand.parts.size()));
    notes_->demands.push_back(demand);
  }
  void give_back(const std::string& node_id) override { notes_->calls.push_back("give back " + node_id); }
  bool joined(const node::NodeResources& node) override {
    const bool own = node.labels.contains("brought");
    notes_->calls.push_back((own ? "brought " : "not mine ") + node.node_id);
    return own;
  }
  void left(const std::string& node_id) override { notes_->calls.push_back("left " + node_id); }
  void close() override { notes_->calls.push_back("close"); }

 private:
  Notes* notes_;
};

using Calls = std::vector<std::string>;

node::NodeResources node_named(const std::string& name, Labels labels) {
  node::NodeResources node;
  node.node_id = name;
  node.hostname = name;
  node.total = {{"CPU", 2}};
  node.labels = std::move(labels);
  return node;
}

struct Site {
  /// All that can be done now is done.
  void settle() {
    loop.restart();
    loop.poll();
  }
  Calls calls_since() {
    settle();
    return std::exchange(notes.calls, {});
  }
  void ask(std::int64_t holder, int workers) {
    pool.acquire(holder, {workers, workers, {{{"CPU", 2}}, 0}},
                 {[this, holder](const Result<Grant>&) { granted.push_back(holder); }, nullptr});
  }

  asio::io_context loop{1};
  FakeProvider::Notes notes;
  std::vector<std::string> warnings;
  std::vector<std::int64_t> granted;
  SuppliedPool pool{loop,
                    std::make_unique<FakeProvider>(notes),
                    [this](const std::string& text) { warnings.push_back(text); },
                    {Duration(0), Duration(0)}};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(supplied_pool_suite)

BOOST_FIXTURE_TEST_CASE(a_run_that_waits_gets_a_node_that_is_given_back_when_it_has_ended, Site) {
  pool.add(node_named("local", {}));
  pool.open({"host:1", "token"});
  BOOST_TEST(calls_since() == Calls{"open host:1 with token"});
  ask(1, 1);
  ask(2, 2);
  BOOST_TEST(calls_since() == Calls{"want 1"});
  BOOST_TEST(notes.demands[0].parts[0].request.workers_min == 2);
  pool.add(node_named("node-1", {{"brought", "yes"}}));
  // It waits for the first run alone.
  BOOST_TEST(calls_since() == (Calls{"brought node-1", "want 0"}));
  BOOST_TEST(granted == std::vector<std::int64_t>{1});
  pool.release(1);
  BOOST_TEST(granted == (std::vector<std::int64_t>{1, 2}));
  // It could have used more nodes, and has its own now.
  BOOST_TEST(calls_since() == Calls{"want 0"});
  pool.release(2);
  BOOST_TEST(calls_since() == Calls{"give back node-1"});
  ask(3, 2);
  BOOST_TEST(granted.size() == 2U);  // Nothing is given on a node that goes.
  BOOST_TEST(calls_since() == Calls{"want 1"});
  pool.remove("node-1");
  BOOST_TEST(calls_since() == Calls{"left node-1"});
}

BOOST_FIXTURE_TEST_CASE(many_requests_in_one_turn_of_the_loop_are_one_demand, Site) {
  pool.open({"host:1", "token"});
  for (int holder = 0; holder < 100; ++holder) ask(holder, 1);
  BOOST_TEST(calls_since() == (Calls{"open host:1 with token", "want 1"}));
  BOOST_TEST(notes.demands[0].parts[0].times == 100);
}

BOOST_FIXTURE_TEST_CASE(who_waits_for_others_could_use_more_nodes_and_needs_none, Site) {
  pool.open({"host:1", "token"});
  pool.add(node_named("node-1", {{"brought", "yes"}}));
  for (int holder = 0; holder < 4; ++holder) ask(holder, 1);
  settle();
  BOOST_TEST(notes.demands.back().is_empty());
  BOOST_REQUIRE(notes.demands.back().could_use.size() == 1U);
  BOOST_TEST(notes.demands.back().could_use[0].times == 3);
}

BOOST_FIXTURE_TEST_CASE(an_elastic_group_could_use_what_it_lacks_and_keeps_the_node_that_it_will_grow_onto, Site) {
  pool.open({"host:1", "token"});
  pool.add(node_named("node-1", {{"brought", "yes"}}));
  pool.acquire(1, {1, 3, {{{"CPU", 2}}, 0}}, {[](const Result<Grant>&) {}, nullptr});
  settle();
  BOOST_REQUIRE(notes.demands.back().could_use.size() == 1U);
  BOOST_TEST(notes.demands.back().could_use[0].request.workers_min == 1);
  BOOST_TEST(notes.demands.back().could_use[0].request.workers_max == 2);
  pool.add(node_named("node-2", {{"brought", "yes"}}));
  settle();
  BOOST_TEST(notes.demands.back().could_use[0].request.workers_max == 1);
  BOOST_TEST(pool.idle_nodes().empty());
  pool.release(1);
  settle();
  BOOST_TEST(notes.demands.back().could_use.empty());
  BOOST_TEST(notes.calls.back() == "give back node-2");
}

BOOST_FIXTURE_TEST_CASE(a_group_of_default_workers_does_not_share_the_cpus_of_the_first_node_that_joins, Site) {
  pool.open({"host:1", "token"});
  pool.acquire(1, {4, 4, {{}, 1}}, {[this](const Result<Grant>&) { granted.push_back(1); }, nullptr});
  pool.add(node_named("node-1", {{"brought", "yes"}}));
  settle();
  BOOST_TEST(granted.empty());
  BOOST_TEST(notes.demands.back().parts[0].request.each.at("CPU") == 1);
  BOOST_TEST(notes.demands.back().parts[0].request.advised_cpus == 0);
  pool.add(node_named("node-2", {{"brought", "yes"}}));
  BOOST_TEST(granted == std::vector<std::int64_t>{1});
}

BOOST_FIXTURE_TEST_CASE(a_node_that_came_by_itself_is_nobodys_to_give_back, Site) {
  pool.open({"host:1", "token"});
  pool.add(node_named("node-1", {}));
  BOOST_TEST(calls_since() == (Calls{"open host:1 with token", "not mine node-1"}));
  pool.remove("node-1");
  BOOST_TEST(calls_since().empty());
}

BOOST_FIXTURE_TEST_CASE(what_a_provider_has_to_say_reaches_the_user_until_the_end, Site) {
  pool.open({"host:1", "token"});
  notes.site->warn("the queue is full");
  pool.close();
  pool.close();
  notes.site->warn("too late");
  BOOST_TEST(warnings == std::vector<std::string>{"the queue is full"});
  ask(1, 1);
  BOOST_TEST(calls_since() == (Calls{"open host:1 with token", "close"}));
}

BOOST_FIXTURE_TEST_CASE(a_driver_that_nodes_cannot_join_asks_for_none, Site) {
  ask(1, 1);
  BOOST_TEST(calls_since().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
