#include "engine/local_engine.hpp"

#include <boost/test/unit_test.hpp>

/// Runs that share this machine: who comes first is served first.
namespace headway::engine {

namespace {

struct Fixture {
  Fixture() : engine(node()) {}

  static node::NodeResources node() {
    node::NodeResources node;
    node.hostname = "host-a";
    node.total = {{"CPU", 4}};
    return node;
  }

  void ask(std::int64_t holder, double cpus) {
    engine.acquire(holder, 1, {{{"CPU", cpus}}, 0},
                   [this, holder](const Result<Grant>& grant) { (grant ? granted : refused).push_back(holder); });
  }

  using Holders = std::vector<std::int64_t>;
  LocalEngine engine;
  Holders granted;
  Holders refused;
};

using Holders = Fixture::Holders;

}  // namespace

BOOST_AUTO_TEST_SUITE(local_engine_suite)

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
  engine.acquire(2, 1, {{{"CPU", 4}}, 0}, [this](const Result<Grant>& grant) {
    BOOST_TEST(grant.has_value());
    engine.release(2);
  });
  ask(3, 4);
  engine.release(1);
  BOOST_TEST(granted == (Holders{1, 3}));
}

BOOST_FIXTURE_TEST_CASE(more_workers_than_cpus_start_with_one_warning, Fixture) {
  std::optional<Grant> grant;
  engine.acquire(1, 8, {{}, 1}, [&](Result<Grant> result) { grant = std::move(*result); });
  BOOST_REQUIRE(grant.has_value());
  BOOST_TEST(grant->slots.size() == 8U);
  BOOST_REQUIRE(grant->warnings.size() == 1U);
  BOOST_TEST(grant->warnings[0].starts_with("8 workers share 4 CPUs"));
  engine.acquire(2, 4, {{}, 1}, [&](Result<Grant> result) { grant = std::move(*result); });
  BOOST_TEST(grant->warnings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
